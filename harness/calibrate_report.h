/* The report of a calibration: a matrix of shadows and gates, and what it says of the contract. */
#ifndef CUPEL_CALIBRATE_REPORT_H
#define CUPEL_CALIBRATE_REPORT_H

#include <stdio.h>

#include "calibrate.h"

void cupel_calibrate_report_text(const cupel_calibrate_report *report, FILE *out);
/* False when it could not be written. */
bool cupel_calibrate_report_json(const cupel_calibrate_report *report, FILE *out);

#endif
