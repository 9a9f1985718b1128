/* What a machine has of what cupel uses, and which Debian package brings the rest. */
#ifndef CUPEL_DOCTOR_H
#define CUPEL_DOCTOR_H

#include <stdbool.h>

#include "arena.h"

enum { CUPEL_DOCTOR_MAX = 24 };

typedef enum cupel_doctor_state {
    CUPEL_DOCTOR_OK,
    CUPEL_DOCTOR_MISSING, /* needed: a check does not work without it */
    CUPEL_DOCTOR_ABSENT   /* good to have */
} cupel_doctor_state;

/* One line of the report; texts live in the doctor's arena. */
typedef struct cupel_doctor_item {
    const char *name;
    cupel_doctor_state state;
    const char *found;   /* version and path, or what went wrong */
    const char *purpose; /* what it is for */
    const char *install; /* what to do; "" when there is nothing */
} cupel_doctor_item;

typedef struct cupel_doctor {
    cupel_arena *arena;
    const char *cache; /* folder of compiled candidates */
    bool works;        /* a kernel was compiled, run and judged on the emulator */
    int count;
    cupel_doctor_item items[CUPEL_DOCTOR_MAX];
} cupel_doctor;

/* Looks at everything; takes a second or two, for it checks a small kernel in a folder of its own. */
void cupel_doctor_examine(cupel_doctor *doctor);

/* The parts: programs and libraries, the machine, CUDA. */
void cupel_doctor_programs(cupel_doctor *doctor);
void cupel_doctor_machine(cupel_doctor *doctor);
void cupel_doctor_cuda(cupel_doctor *doctor);
void cupel_doctor_emulator(cupel_doctor *doctor);

void cupel_doctor_add(cupel_doctor *doctor, const char *name, cupel_doctor_state state, const char *found,
                      const char *purpose, const char *install);

/* Runs a command with its output in a file of folder; the output's text, NULL when it could not be run. */
const char *cupel_doctor_run(cupel_doctor *doctor, const char *folder, const char *const *argv, int seconds,
                             bool *success);

/* The path of a program on the PATH or in one of the folders (NULL-terminated, may be NULL); NULL when there
 * is none. */
const char *cupel_doctor_which(cupel_doctor *doctor, const char *program, const char *const *folders);

#endif
