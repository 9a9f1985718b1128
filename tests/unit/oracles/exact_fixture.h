/* Evaluates expressions exactly for the tests. */
#ifndef EXACT_FIXTURE_H
#define EXACT_FIXTURE_H

#include "graph_fixture.h"
#include "oracle.h"

typedef struct exact_fixture {
    fixture f;
    const void *data[FIXTURE_INPUTS];
    cupel_bindings bindings;
    cupel_rules rules;
    cupel_exact_session *session;
} exact_fixture;

static inline void exact_start(exact_fixture *x) {
    memset(x, 0, sizeof *x);
    fixture_start(&x->f);
    x->bindings.data = x->data;
    x->rules = (cupel_rules){.working = CUPEL_F32, .fast_math = true};
}

static inline void exact_input(exact_fixture *x, const char *name, cupel_dtype type, const char *shape,
                               const void *data) {
    x->data[x->bindings.count++] = data;
    fixture_input(&x->f, name, type, shape);
}

static inline void exact_build(exact_fixture *x, const char *text, cupel_dtype type, const char *shape) {
    cupel_exact_close(x->session);
    x->session = NULL;
    fixture_build(&x->f, text, type, shape);
    assert_int_equal(cupel_exact_open(x->f.graph, &x->bindings, &x->rules, &x->session, &x->f.err), CUPEL_OK);
}

static inline cupel_exact_element exact_element(exact_fixture *x, int64_t index) {
    cupel_exact_element e;
    if (cupel_exact_element_of(x->session, 0, index, &e, &x->f.err) != CUPEL_OK)
        fail_msg("%s", x->f.err.text);
    return e;
}

static inline void exact_end(exact_fixture *x) {
    cupel_exact_close(x->session);
    fixture_end(&x->f);
}

#endif
