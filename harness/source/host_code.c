/* Which declarations are host code. A free function of the host goes wholly, for its signature may name types
 * whose headers are left out; a member function keeps its head, so that its class keeps its shape. */
#include <string.h>

#include "source_impl.h"

/* Namespaces whose headers are left out: a using of one of them would not compile. */
static bool names_a_missing_namespace(const cupel_source_parts *parts, const cupel_declaration *d) {
    static const char *const missing[] = {"cute", "cutlass", "torch", "at", "c10", "thrust"};
    const cupel_structure *s = &parts->structure;
    bool is_using = cupel_structure_is(s, d->begin, "using"),
         alias = cupel_structure_is(s, d->begin, "namespace");
    if ((!is_using && !alias) || parts->for_device) return false; /* there, a compiler says what is missing */
    for (size_t i = d->begin + 1; i < d->end; i++)
        for (size_t k = 0; k < sizeof missing / sizeof *missing; k++)
            if (cupel_structure_is(s, i, missing[k])) return true;
    return false;
}

static bool is_friend(const cupel_source_parts *parts, const cupel_declaration *d) {
    for (size_t i = d->begin; i < d->params_begin; i++)
        if (cupel_structure_is(&parts->structure, i, "friend")) return true;
    return false;
}

void cupel_host_code_mark(cupel_source_parts *parts) {
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        cupel_left left = CUPEL_LEFT_ALL;
        switch (d->kind) {
        case CUPEL_DECLARATION_HOST_FUNCTION:
            left = d->in_class && d->body_end && !is_friend(parts, d) ? CUPEL_LEFT_HEAD : CUPEL_LEFT_NONE;
            break;
        case CUPEL_DECLARATION_HOST_VARIABLE:
        case CUPEL_DECLARATION_HOST_MACRO_USE: left = CUPEL_LEFT_NONE; break;
        case CUPEL_DECLARATION_OTHER:
            if (names_a_missing_namespace(parts, d)) left = CUPEL_LEFT_NONE;
            break;
        case CUPEL_DECLARATION_KERNEL:
        case CUPEL_DECLARATION_DEVICE_FUNCTION:
        case CUPEL_DECLARATION_DEVICE_VARIABLE:
        case CUPEL_DECLARATION_CONSTANT:
        case CUPEL_DECLARATION_TYPE:
        case CUPEL_DECLARATION_MACRO_USE: break;
        }
        parts->left[i] = (uint8_t)left;
    }
}
