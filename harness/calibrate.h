/* Calibration (DESIGN section 4): does a contract tell right from wrong? Shadows stand in for its kernel: the
 * good ones must pass every gate, each faulty one must be rejected, by its own gate. No kernel is compiled or
 * run: recipes, oracle, gates, minimiser and attribution are those of a check. */
#ifndef CUPEL_CALIBRATE_H
#define CUPEL_CALIBRATE_H

#include <signal.h>

#include "exec_shadow.h"
#include "minimiser.h"

enum { CUPEL_CALIBRATE_ROWS_MAX = 64 };

typedef enum cupel_calibration {
    CUPEL_CALIBRATION_SOUND,     /* a good shadow passes; a faulty one is rejected by its own gate */
    CUPEL_CALIBRATION_ELSEWHERE, /* a faulty one is rejected, by another gate than its own */
    CUPEL_CALIBRATION_EVIDENCE,  /* a faulty one is told, but as evidence, which rejects nobody */
    CUPEL_CALIBRATION_PASSES, /* a faulty one changes elements that are judged, and is accepted for what the
                                 contract demands (a tolerance, say): under-specified */
    CUPEL_CALIBRATION_UNSEEN, /* a faulty one gives no result, for any input that the contract claims, that a
                                 conforming kernel may not give */
    CUPEL_CALIBRATION_UNCLAIMED, /* the contract gives no way to exercise its gate; why in advice */
    CUPEL_CALIBRATION_UNJUDGED,  /* no element of any case could be judged */
    CUPEL_CALIBRATION_ACCUSED    /* a good one is rejected: a defect of ours */
} cupel_calibration;

const char *cupel_calibration_name(cupel_calibration outcome); /* as in JSON */

typedef struct cupel_calibrate_row {
    const char *name, *sentence; /* "a kernel with SENTENCE"; of a good shadow how it evaluates */
    bool good;
    unsigned own; /* gates, a bit each, that the fault belongs to */
    cupel_calibration outcome;
    cupel_gate_status gates[CUPEL_GATE_COUNT]; /* at the end of the row's cases */
    unsigned rejected;                         /* gates that rejected it */
    int64_t cases;
    bool evidence;       /* it was found less accurate than good kernels, which rejects nobody */
    char signature[160]; /* of what decided the outcome; may be empty */
    char described[512]; /* its minimal case */
    char advice[600];    /* of PASSES, UNSEEN and UNCLAIMED: what in the contract hides the fault, quoted, and
                            what    to write instead */
} cupel_calibrate_row;

typedef struct cupel_calibrate_options {
    uint64_t cases; /* a shadow; 0: CUPEL_CALIBRATE_CASES */
    uint64_t seed;
    int64_t max_elements;              /* of a case */
    const volatile sig_atomic_t *stop; /* not zero: UNABLE; may be NULL */
} cupel_calibrate_options;

enum { CUPEL_CALIBRATE_CASES = 400 };

typedef struct cupel_calibrate_report {
    const cupel_contract *contract;
    uint64_t cases, seed;
    int row_count;
    cupel_calibrate_row rows[CUPEL_CALIBRATE_ROWS_MAX];
    cupel_verdict verdict; /* rejected: a good shadow is, or a faulty one passes */
} cupel_calibrate_report;

typedef struct cupel_calibrate_listener {
    void *self;
    void (*row)(void *self, const cupel_calibrate_row *row); /* each when it is done */
} cupel_calibrate_listener;

/* The report is large: allocate it. With options->cases and seed everything is repeatable. listener may be
 * NULL. Errors: memory, a stop. */
CUPEL_MUST_USE cupel_code cupel_calibrate(const cupel_contract *contract,
                                          const cupel_calibrate_options *options,
                                          const cupel_calibrate_listener *listener,
                                          cupel_calibrate_report *report, cupel_error *err);

/* How many rows ended so; good and faulty ones apart. */
int cupel_calibrate_count(const cupel_calibrate_report *report, bool good, cupel_calibration outcome);

#endif
