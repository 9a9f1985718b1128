/* Shared by the gates: what they know about one case while it is judged. Private to this folder. */
#ifndef CUPEL_JUDGING_H
#define CUPEL_JUDGING_H

#include "gate.h"

/* One output in every run, contiguous and row major. */
typedef struct cupel_output_view {
    const cupel_graph_output *output;
    const cupel_allowed *allowed; /* NULL when there was no oracle answer */
    int index;                    /* into the graph's outputs */
    int tensor;                   /* into the case's tensors */
    size_t size;                  /* bytes of an element */
    int64_t count;
    bool poisoned;                              /* poison before the launch */
    const unsigned char *after[CUPEL_RUN_MAX];  /* per run; NULL where the run did not finish */
    const unsigned char *before[CUPEL_RUN_MAX]; /* made when asked for (cupel_judging_before) */
    uint8_t *excused; /* elements that another finding explains already; NULL: none */
    int64_t excused_count;
} cupel_output_view;

/* What the comparison with the allowed sets found in one case. */
typedef struct cupel_compared {
    const cupel_evidence *evidence;
    int64_t judged, considered;
    int64_t subnormal; /* judged elements at which flushing would be seen */
    int64_t gradient;  /* judged elements of outputs that are gradients */
} cupel_compared;

typedef struct cupel_judging {
    const cupel_evidence *evidence;
    cupel_arena *arena;
    cupel_scoreboard *scoreboard; /* may be NULL */
    cupel_judged *out;
    int view_count;
    cupel_output_view *views;
    bool float_atomics;       /* in any run */
    bool determinism_counted; /* the case is among those of ORD-02 */
} cupel_judging;

/* Did run r end in a way that leaves bytes to judge? */
bool cupel_judging_finished(const cupel_judging *j, int r);

/* The element's bytes after run r. */
static inline const unsigned char *cupel_view_element(const cupel_output_view *view, int r, int64_t i) {
    return view->after[r] + (size_t)i * view->size;
}

/* Blocks were left out that alone would have stored the element. */
static inline bool cupel_view_not_run(const cupel_output_view *view, int64_t i) {
    return view->allowed && view->allowed->reasons[i] == CUPEL_REASON_NOT_RUN;
}
/* Elements of the output but for those. */
static inline int64_t cupel_view_run(const cupel_output_view *view) {
    return view->count - (view->allowed ? view->allowed->by_reason[CUPEL_REASON_NOT_RUN] : 0);
}

/* The output's elements as they were before run r; NULL when out of memory. */
const unsigned char *cupel_judging_before(cupel_judging *j, cupel_output_view *view, int r);

/* Marks an element as explained, so that no later gate accuses it again. */
void cupel_judging_excuse(cupel_judging *j, cupel_output_view *view, int64_t i);
static inline bool cupel_view_excused(const cupel_output_view *view, int64_t i) {
    return view->excused && view->excused[i];
}

/* A new finding of this kind at proof standing, gate provisional by the case's traits; NULL when the case has
 * its number of findings. */
cupel_finding *cupel_judging_add(cupel_judging *j, cupel_finding_kind kind);

/* To be called when a finding is filled in: drops it when an earlier one of the case has the same signature,
 * counts it otherwise. */
void cupel_judging_keep(cupel_judging *j, cupel_finding *finding);

/* Fills in output, name, type and the element's figures. */
void cupel_judging_element(const cupel_output_view *view, int64_t i, const unsigned char *bytes,
                           cupel_finding *finding);

/* "y[3, 7]" */
void cupel_judging_where(const char *name, int rank, const int64_t *shape, int64_t i, char *text,
                         size_t size);

/* A value of a type, in so many digits that no two look the same: nine, and as few as read back where the
 * type has more than single precision. "NaN", "inf". */
void cupel_judging_number(cupel_dtype type, double x, char *text, size_t size);

/* The case exercises a gate: judged of considered elements or facts. */
void cupel_judging_tally(cupel_judging *j, cupel_gate gate, int64_t judged, int64_t considered);

/* The gates, in the order in which they are asked. */
bool cupel_runs_want_more(cupel_judging *j);
void cupel_gate_faults(cupel_judging *j);
void cupel_gate_launch(cupel_judging *j);
void cupel_gate_memory(cupel_judging *j);
void cupel_gate_determinism(cupel_judging *j);
void cupel_gate_variants(cupel_judging *j);
void cupel_gate_values(cupel_judging *j);
void cupel_gate_uninitialised(cupel_judging *j);

/* Is it a read whose value nothing has written, and by itself no finding? Of shared and local memory lanes
 * read a whole tile and drop what its ragged edge holds. */
static inline bool cupel_access_may_be_dropped(const cupel_access *access) {
    return access->kind == CUPEL_ACCESS_UNINITIALISED_READ && access->space != CUPEL_SPACE_GLOBAL;
}

/* Tries the strawmen on a case that exercises these gates (a bit each), as far as it is not known yet that
 * the gates reject them. */
void cupel_strawmen_try(cupel_judging *j, unsigned gates);

/* What gates ask of a contract. */

/* Is an element type of this kind claimed for the tensor? */
bool cupel_claims_kind(const cupel_contract *contract, const cupel_tensor_decl *tensor,
                       cupel_dtype_kind kind);
bool cupel_claims_real_output(const cupel_contract *contract, const char **why);
/* The contract's graph and rules at its ordinary shape and first types; NULL where there is none. */
cupel_graph *cupel_claimed_graph(const cupel_contract *contract, cupel_arena *arena, cupel_rules *rules);
/* The faults (CUPEL_SHADOW_*, a bit each) that a kernel for this contract can have; all where nothing is
 * known. */
unsigned cupel_claimed_faults(const cupel_contract *contract);

/* Names the buffer of a finding's access, and words the finding. */
void cupel_judging_describe_access(const cupel_case *c, cupel_finding *finding);

/* Has a run of this case a proven bad access of one of these kinds (bits 1 << cupel_access_kind)? */
bool cupel_judging_has_access(const cupel_judging *j, unsigned kinds);

#endif
