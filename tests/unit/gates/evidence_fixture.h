/* Evidence made by hand: y = 2 * x over N elements of f32, allowed within 0.25, in a world where every run is
 * right until a test spoils it. */
#ifndef EVIDENCE_FIXTURE_H
#define EVIDENCE_FIXTURE_H

#include "gate.h"

#include "schedule.h"

enum { FIXTURE_N = 8 };

#define FIXTURE_SCHEDULE ((uint64_t)CUPEL_SCHEDULE_LAST_WARP << 56)

typedef struct fixture {
    cupel_arena *arena;
    cupel_contract contract;
    cupel_recipe recipe;
    cupel_case c;
    cupel_graph graph;
    cupel_graph_output output;
    cupel_allowed allowed;
    double value[FIXTURE_N], lo[FIXTURE_N], hi[FIXTURE_N], radius[FIXTURE_N];
    uint8_t classes[FIXTURE_N], reasons[FIXTURE_N];
    float x[FIXTURE_N];
    cupel_observation seen[CUPEL_RUN_MAX];
    cupel_evidence evidence;
    bool history; /* set before fixture_runs: B comes after an earlier call */
    cupel_scoreboard board;
    cupel_judged judged;
} fixture;

/* Two runs, A/1 and B/2 (schedules 0 and FIXTURE_SCHEDULE), of an executor with a fixed schedule;
 * deterministic: auto. */
void fixture_start(fixture *f);
void fixture_stop(fixture *f);

/* The output's elements lie two apart from now on: gaps. Call before any run is added. */
void fixture_spread_output(fixture *f);
/* Lays out the runs again; 2, 4 (with the crossed runs A/2 and B/1) or, with history, 6 (the schedule alone/2
 * and the earlier call alone/2). */
void fixture_runs(fixture *f, int count);
/* Element i of y after run r. */
void fixture_set(fixture *f, int r, int i, float y);
float fixture_get(const fixture *f, int r, int i);
/* Puts back what lay at element i before run r. */
void fixture_unwrite(fixture *f, int r, int i);
/* Adds a faulty access to run r. */
void fixture_access(fixture *f, int r, cupel_access_kind kind, int line);
void fixture_judge(fixture *f);
/* The finding of a kind; NULL when there is none. */
const cupel_finding *fixture_finding(const fixture *f, cupel_finding_kind kind);

#endif
