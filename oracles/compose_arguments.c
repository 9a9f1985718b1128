/* Reading the arguments of a call. */
#include <string.h>

#include "compose.h"

bool cupel_call_has(const cupel_call *call, int i) {
    return call->args[i].form != CUPEL_OPERAND_ABSENT;
}

int cupel_call_node(cupel_builder *b, const cupel_call *call, int i) {
    return cupel_operand_node(b, &call->args[i]);
}

int cupel_call_real(cupel_builder *b, const cupel_call *call, int i) {
    return cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, i));
}

int64_t cupel_call_integer(cupel_builder *b, const cupel_call *call, int i, int64_t fallback) {
    int64_t value;
    if (!cupel_call_has(call, i)) return fallback;
    return cupel_operand_integer(b, &call->args[i], call->info->signature, &value) ? value : fallback;
}

bool cupel_call_flag(cupel_builder *b, const cupel_call *call, int i, bool fallback) {
    const int64_t value = cupel_call_integer(b, call, i, fallback);
    if (value == 0 || value == 1) return value;
    cupel_emit_fail(b, CUPEL_CONTRACT, call->args[i].place, "expected true or false in %s, found %lld",
                    call->info->signature, (long long)value);
    return fallback;
}

int cupel_call_choice(cupel_builder *b, const cupel_call *call, int i, const char *const *choices) {
    const cupel_operand *o = &call->args[i];
    if (o->form == CUPEL_OPERAND_ABSENT) return 0;
    const char *listing = "";
    for (int k = 0; choices[k]; k++) {
        if (o->form == CUPEL_OPERAND_TEXT && strcmp(o->text, choices[k]) == 0) return k;
        listing = cupel_arena_printf(b->arena, "%s%s\"%s\"", listing, k ? " or " : "", choices[k]);
        if (!listing) listing = "another text";
    }
    cupel_emit_fail(b, CUPEL_CONTRACT, o->place, "expected %s in %s, found %s", listing,
                    call->info->signature, o->form == CUPEL_OPERAND_TEXT ? o->text : "no string");
    return 0;
}

static bool wrap_axis(cupel_builder *b, cupel_span place, int64_t axis, int rank, int *out) {
    if (axis < -rank || axis >= rank) {
        cupel_emit_fail(b, CUPEL_CONTRACT, place, "expected an axis in %d..%d, found %lld", -rank, rank - 1,
                        (long long)axis);
        return false;
    }
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

int cupel_call_axis(cupel_builder *b, const cupel_call *call, int i, int rank, int fallback) {
    int axis = 0;
    int64_t given = cupel_call_integer(b, call, i, fallback);
    if (rank == 0 && (given == 0 || given == -1)) return 0; /* PyTorch lets a number have one axis */
    if (b->code == CUPEL_OK) wrap_axis(b, call->args[i].place, given, rank, &axis);
    return axis;
}

unsigned cupel_call_axes(cupel_builder *b, const cupel_call *call, int i, int rank) {
    const cupel_operand *o = &call->args[i];
    unsigned all = (1u << rank) - 1, mask = 0;
    if (o->form == CUPEL_OPERAND_ABSENT) return all;
    int count = o->form == CUPEL_OPERAND_LIST ? o->count : 1;
    for (int k = 0; k < count && b->code == CUPEL_OK; k++) {
        const cupel_operand *item = o->form == CUPEL_OPERAND_LIST ? &o->items[k] : o;
        int64_t axis;
        int wrapped;
        if (!cupel_operand_integer(b, item, "an axis", &axis)) break;
        if (rank == 0 && (axis == 0 || axis == -1)) continue;
        if (!wrap_axis(b, item->place, axis, rank, &wrapped)) break;
        if (mask >> wrapped & 1)
            cupel_emit_fail(b, CUPEL_CONTRACT, item->place, "expected each axis once, found %lld again",
                            (long long)axis);
        mask |= 1u << wrapped;
    }
    return count == 0 ? all : mask; /* an empty list means all axes, as in PyTorch */
}

int cupel_call_integers(cupel_builder *b, const cupel_call *call, int i, int limit, int64_t *out) {
    const cupel_operand *o = &call->args[i];
    int count = o->form == CUPEL_OPERAND_LIST ? o->count : 1;
    if (count > limit) {
        cupel_emit_fail(b, CUPEL_CONTRACT, o->place, "expected at most %d integers, found %d", limit, count);
        return 0;
    }
    for (int k = 0; k < count; k++)
        if (!cupel_operand_integer(b, o->form == CUPEL_OPERAND_LIST ? &o->items[k] : o, call->info->signature,
                                   &out[k]))
            return 0;
    return count;
}
