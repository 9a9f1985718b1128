#include "executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cupel_executor {
    const cupel_executor_backend *backend;
    void *self;
};

const cupel_executor_backend *cupel_executor_find(const char *name) {
    const cupel_executor_backend *const all[] = {cupel_executor_emu(), cupel_executor_host(),
                                                 cupel_executor_cuda()};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

const cupel_executor_backend *cupel_executor_default(const cupel_contract *contract) {
    return contract->host ? cupel_executor_host() : cupel_executor_emu();
}

cupel_code cupel_executor_open(const cupel_executor_backend *backend, const cupel_contract *contract,
                               const cupel_executor_options *options, cupel_executor **out,
                               cupel_error *err) {
    cupel_executor *executor = calloc(1, sizeof *executor);
    if (executor == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for an executor");
    executor->backend = backend;
    cupel_code code = backend->open(contract, options, &executor->self, err);
    if (code != CUPEL_OK) {
        free(executor);
        return code;
    }
    *out = executor;
    return CUPEL_OK;
}

const cupel_executor_backend *cupel_executor_backend_of(const cupel_executor *executor) {
    return executor->backend;
}

cupel_code cupel_executor_prepare(cupel_executor *executor, const cupel_binding *binding, cupel_error *err) {
    return executor->backend->prepare(executor->self, binding, err);
}

/* Rounding, flush-to-zero and denormals-are-zero of SSE, and the x87 control word; never the sticky exception
 * flags. */
typedef struct fp_mode {
    uint32_t mxcsr;
    uint16_t x87;
} fp_mode;

enum { MXCSR_FLAGS = 0x3f, MXCSR_DEFAULT = 0x1f80, X87_DEFAULT = 0x037f };

static fp_mode mode_get(void) {
    fp_mode mode;
    __asm__ volatile("stmxcsr %0" : "=m"(mode.mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(mode.x87));
    mode.mxcsr &= ~(uint32_t)MXCSR_FLAGS;
    return mode;
}

static void mode_reset(void) {
    const uint32_t mxcsr = MXCSR_DEFAULT;
    const uint16_t x87 = X87_DEFAULT;
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
    __asm__ volatile("fldcw %0" : : "m"(x87));
}

static void report_mode(const fp_mode *after, cupel_observation *out) {
    out->outcome = CUPEL_RUN_FAULT;
    out->fault = CUPEL_FAULT_FP_MODE;
    snprintf(out->text, sizeof out->text,
             "the candidate left another floating-point mode behind:%s%s%s (MXCSR 0x%04x, x87 control word "
             "0x%04x)",
             after->mxcsr & 0x8000 ? " flush to zero" : "",
             after->mxcsr & 0x0040 ? " denormals are zero" : "",
             (after->mxcsr & 0x6000) != 0 || (after->x87 & 0x0c00) != 0 ? " another rounding" : "",
             after->mxcsr, after->x87);
}

void cupel_executor_tell_earlier(cupel_observation *out) {
    static const char prefix[] = "in an earlier call: ";
    size_t length = strlen(out->text), room = sizeof out->text - sizeof prefix;
    if (length > room) length = room;
    memmove(out->text + sizeof prefix - 1, out->text, length);
    memcpy(out->text, prefix, sizeof prefix - 1);
    out->text[sizeof prefix - 1 + length] = '\0';
    out->access_count = 0; /* of other memory */
    out->access_total = 0;
}

/* The calls of the recipe's history: a pure function of the recipe. */
static cupel_code work_out_history(const cupel_case *c, cupel_arena *arena, cupel_run_request *request,
                                   cupel_error *err) {
    request->earlier_count = 0;
    if (!request->history || c->recipe == NULL || c->recipe->history == CUPEL_HISTORY_NONE) return CUPEL_OK;
    request->earlier_count = cupel_recipe_calls(c->recipe);
    for (int i = 0; i < request->earlier_count; i++) {
        cupel_earlier_call *call = &request->earlier[i];
        *call = (cupel_earlier_call){c, cupel_recipe_elsewhere(c->recipe, i)};
        const bool first_again = c->recipe->history == CUPEL_HISTORY_FIRST_AGAIN && i == 0;
        if (c->recipe->history == CUPEL_HISTORY_REPEAT || first_again) continue;
        cupel_recipe *recipe = cupel_arena_raw(arena, 1, sizeof *recipe);
        cupel_case *earlier;
        if (recipe == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for an earlier call");
        CUPEL_TRY(cupel_recipe_earlier(c->contract, c->recipe, i, recipe, err));
        CUPEL_TRY(cupel_case_materialise(c->contract, recipe, arena, &earlier, err));
        call->c = earlier;
    }
    return CUPEL_OK;
}

cupel_code cupel_executor_run(cupel_executor *executor, const cupel_case *c, const cupel_run_request *asked,
                              cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    cupel_run_request request = *asked;
    CUPEL_TRY(work_out_history(c, arena, &request, err));
    mode_reset();
    cupel_code code = executor->backend->run(executor->self, c, &request, arena, out, err);
    fp_mode after = mode_get();
    mode_reset();
    bool changed = after.mxcsr != MXCSR_DEFAULT || after.x87 != X87_DEFAULT;
    if (code == CUPEL_OK && changed && out->outcome == CUPEL_RUN_FINISHED) report_mode(&after, out);
    return code;
}

const uint8_t *cupel_executor_coverage(cupel_executor *executor, size_t *count) {
    return executor->backend->coverage(executor->self, count);
}

bool cupel_executor_spent(const cupel_executor *executor) {
    return executor->backend->spent != NULL && executor->backend->spent(executor->self);
}

void cupel_executor_close(cupel_executor *executor) {
    if (executor == NULL) return;
    executor->backend->close(executor->self);
    free(executor);
}
