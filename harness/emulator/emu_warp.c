/* Warp operations: shuffles, votes, matches, reductions, __syncwarp. Lanes that name the same mask wait for
 * each other; the last one to come computes the results of all and goes on without a switch. */
#include <string.h>

#include "emu_sanitize.h"
#include "emu_switch.h"

enum {
    OPERATION_SHUFFLE = 1,
    OPERATION_SYNC = 2,
    OPERATION_VOTE = 16,   /* + kind */
    OPERATION_MATRIX = 256 /* + kind and count */
};

static cupel_emu_machine *const m = &cupel_emu_the_machine;

static uint32_t slots_of(const cupel_emu_warp *warp, uint32_t lanes) {
    if ((lanes & warp->existing_lanes) == warp->existing_lanes) return warp->existing;
    if (m->policy.identity) return lanes & warp->existing;
    uint32_t slots = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t slot = warp->slot_of[__builtin_ctz(left)];
        if (slot < CUPEL_EMU_WARP) slots |= 1u << slot;
    }
    return slots;
}

static uint32_t lanes_of(const cupel_emu_warp *warp, uint32_t slots) {
    if (slots == warp->existing) return warp->existing_lanes;
    if (m->policy.identity) return slots;
    const cupel_emu_thread *threads = &m->threads[(warp - m->warps) * CUPEL_EMU_WARP];
    uint32_t lanes = 0;
    for (uint32_t left = slots; left != 0; left &= left - 1) lanes |= 1u << threads[__builtin_ctz(left)].lane;
    return lanes;
}

/* The lane that lane reads from, as PTX's shfl defines it: segments of width lanes, a source outside the
 * segment is the lane itself. */
static uint32_t source_lane(uint32_t lane, uint64_t detail) {
    uint32_t kind = detail & 0xff, width = (detail >> 8) & 0xff, argument = (uint32_t)(detail >> 32);
    uint32_t first = lane & ~(width - 1), source;
    switch (kind) {
    case CUPEL_EMU_SHFL_IDX: return first | (argument & (width - 1));
    case CUPEL_EMU_SHFL_UP:
        source = lane - (argument & 31);
        return (int32_t)source < (int32_t)first ? lane : source;
    case CUPEL_EMU_SHFL_DOWN:
        source = lane + (argument & 31);
        return source > (first | (width - 1)) ? lane : source;
    default: /* XOR may reach into earlier segments, not into later ones */
        source = lane ^ (argument & 31);
        return source > (first | (width - 1)) ? lane : source;
    }
}

static void finish_shuffle(cupel_emu_warp *warp, uint32_t lanes) {
    uint64_t result[CUPEL_EMU_WARP];
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint32_t source = source_lane(lane, warp->detail[lane]);
        if ((lanes >> source & 1) == 0) {
            cupel_emu_report_note(
                "a shuffle reads from a lane that takes no part in it (undefined on a device)");
            source = lane;
        }
        result[lane] = warp->value[source];
    }
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        warp->value[lane] = result[lane];
    }
}

/* Of two lanes that differ by argument each gets what the other one has. Value by value: wide loads would
 * wait for the narrow stores that the lanes have just made. */
static void swap_pairs(uint64_t value[], uint32_t argument) {
    const uint32_t below = (argument & -argument) - 1; /* the bits below one in which the two differ */
    for (uint32_t i = 0; i < CUPEL_EMU_WARP / 2 && argument != 0; i++) {
        const uint32_t lane = (i & below) | (i & ~below) << 1, other = lane ^ argument;
        const uint64_t kept = value[lane];
        value[lane] = value[other];
        value[other] = kept;
    }
}

/* The same when all 32 lanes are there and ask alike. */
static void finish_full_shuffle(cupel_emu_warp *warp, uint64_t detail) {
    if ((detail & 0xffff) == (CUPEL_EMU_WARP << 8 | CUPEL_EMU_SHFL_XOR)) {
        swap_pairs(warp->value, (uint32_t)(detail >> 32) & 31);
        return;
    }
    uint64_t before[CUPEL_EMU_WARP];
    memcpy(before, warp->value, sizeof before);
    for (uint32_t lane = 0; lane < CUPEL_EMU_WARP; lane++)
        warp->value[lane] = before[source_lane(lane, detail)];
}

static void finish_match(cupel_emu_warp *warp, uint32_t lanes, bool all) {
    uint64_t result[CUPEL_EMU_WARP];
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), same = 0;
        for (uint32_t other = lanes; other != 0; other &= other - 1) {
            uint32_t o = (uint32_t)__builtin_ctz(other);
            if (warp->value[o] == warp->value[lane]) same |= 1u << o;
        }
        if (all && warp->predicate[lane] != NULL) *warp->predicate[lane] = same == lanes;
        result[lane] = all ? (same == lanes ? lanes : 0) : same;
    }
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        warp->value[lane] = result[lane];
    }
}

static uint32_t combine(int kind, uint32_t a, uint32_t b) {
    switch (kind) {
    case CUPEL_EMU_REDUCE_ADD: return a + b;
    case CUPEL_EMU_REDUCE_MIN: return (int32_t)b < (int32_t)a ? b : a;
    case CUPEL_EMU_REDUCE_MAX: return (int32_t)b > (int32_t)a ? b : a;
    case CUPEL_EMU_REDUCE_UMIN: return b < a ? b : a;
    case CUPEL_EMU_REDUCE_UMAX: return b > a ? b : a;
    case CUPEL_EMU_REDUCE_AND: return a & b;
    case CUPEL_EMU_REDUCE_OR: return a | b;
    default: return a ^ b;
    }
}

static void finish_vote(cupel_emu_warp *warp, uint32_t lanes, int kind) {
    if (kind == CUPEL_EMU_MATCH_ANY || kind == CUPEL_EMU_MATCH_ALL) {
        finish_match(warp, lanes, kind == CUPEL_EMU_MATCH_ALL);
        return;
    }
    uint32_t ballot = 0, folded = (uint32_t)warp->value[__builtin_ctz(lanes)];
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (warp->value[lane] != 0) ballot |= 1u << lane;
        if (left != lanes) folded = combine(kind, folded, (uint32_t)warp->value[lane]);
    }
    uint32_t result;
    switch (kind) {
    case CUPEL_EMU_VOTE_ALL: result = ballot == lanes; break;
    case CUPEL_EMU_VOTE_ANY: result = ballot != 0; break;
    case CUPEL_EMU_VOTE_UNI: result = ballot == 0 || ballot == lanes; break;
    case CUPEL_EMU_VOTE_BALLOT: result = ballot; break;
    default: result = folded; break;
    }
    for (uint32_t left = lanes; left != 0; left &= left - 1) warp->value[__builtin_ctz(left)] = result;
}

/* Everyone who is to come has come: results for the lanes in slots. */
static void finish(cupel_emu_warp *warp, uint32_t operation, uint32_t slots) {
    uint32_t lanes = lanes_of(warp, slots);
    if (operation == OPERATION_SHUFFLE) {
        finish_shuffle(warp, lanes);
    } else if (operation >= OPERATION_MATRIX) {
        cupel_emu_tensor_finish(warp->value, lanes);
    } else if (operation >= OPERATION_VOTE) {
        finish_vote(warp, lanes, (int)(operation - OPERATION_VOTE));
    }
}

static void finish_group(cupel_emu_warp *warp, uint32_t g, uint32_t runner) {
    cupel_emu_group group = warp->groups[g];
    warp->groups[g] = warp->groups[--warp->group_count];
    if (m->sanitizing) cupel_emu_sanitize_warp_meets(lanes_of(warp, group.arrived));
    finish(warp, group.operation, group.arrived);
    cupel_emu_block_ready(warp, group.arrived & ~runner);
}

/* Alike no longer: each of the lanes in slots gets the detail that it came with. */
static void tell_apart(cupel_emu_warp *warp, uint32_t slots) {
    for (uint32_t left = lanes_of(warp, slots); left != 0; left &= left - 1)
        warp->detail[__builtin_ctz(left)] = warp->all_detail;
    warp->all_alike = false;
    warp->all_detail = 0;
}

static void finish_all(cupel_emu_warp *warp, uint32_t runner) {
    uint32_t slots = warp->all_arrived;
    if (m->sanitizing) cupel_emu_sanitize_warp_meets(lanes_of(warp, slots));
    warp->all_arrived = 0;
    if (warp->all_operation == OPERATION_SHUFFLE && warp->all_alike && slots == ~0u) {
        finish_full_shuffle(warp, warp->all_detail);
    } else {
        if (warp->all_operation == OPERATION_SHUFFLE && warp->all_alike) tell_apart(warp, slots);
        finish(warp, warp->all_operation, slots);
    }
    warp->all_detail = 0;
    cupel_emu_block_ready(warp, slots & ~runner);
}

/* Lanes that name only some of their warp, or are not where the others are. */
static bool join_group(cupel_emu_warp *warp, uint32_t operation, uint32_t wanted, uint32_t own) {
    uint32_t g = 0;
    while (g < warp->group_count &&
           (warp->groups[g].mask != wanted || warp->groups[g].operation != operation))
        g++;
    if (g == warp->group_count) warp->groups[warp->group_count++] = (cupel_emu_group){wanted, 0, operation};
    cupel_emu_group *group = &warp->groups[g];
    group->arrived |= own;
    if ((group->mask & warp->alive) != group->arrived) return false;
    finish_group(warp, g, own);
    return true;
}

static cupel_emu_continuation with_result(const cupel_emu_thread *self, void *sp) {
    return (cupel_emu_continuation){self->home->value[self->lane], sp};
}

static __attribute__((noinline)) cupel_emu_continuation finish_all_of(cupel_emu_thread *self, void *sp) {
    finish_all(self->home, self->own);
    return with_result(self, sp);
}

/* self has put its operand down and waits for the lanes of mask. */
static __attribute__((noinline)) cupel_emu_continuation
meet_some(cupel_emu_thread *self, void *sp, const void *pc, uint32_t operation, uint32_t mask) {
    uint32_t wanted = slots_of(self->home, mask);
    if ((wanted & self->own) == 0) {
        cupel_emu_report_note(
            "a lane takes part in a warp operation whose mask does not name it (undefined on a device)");
        wanted |= self->own;
    }
    self->wait_pc = pc;
    if (join_group(self->home, operation, wanted, self->own)) return with_result(self, sp);
    return cupel_emu_suspend(self, sp);
}

/* The mask names every lane there is, and those that wait for all others do the same. */
static inline __attribute__((always_inline)) cupel_emu_continuation meet_all(cupel_emu_thread *self, void *sp,
                                                                             const void *pc) {
    cupel_emu_warp *warp = self->home;
    warp->all_arrived |= self->own;
    if (warp->all_arrived == warp->alive) return finish_all_of(self, sp);
    self->wait_pc = pc;
    return cupel_emu_suspend(self, sp);
}

static inline __attribute__((always_inline)) cupel_emu_continuation
meet(cupel_emu_thread *self, void *sp, const void *pc, uint32_t operation, uint32_t mask) {
    cupel_emu_warp *warp = self->home;
    if ((mask & warp->existing_lanes) != warp->existing_lanes)
        return meet_some(self, sp, pc, operation, mask);
    if (warp->all_arrived == 0) {
        warp->all_operation = operation;
    } else if (warp->all_operation != operation) {
        return meet_some(self, sp, pc, operation, mask);
    }
    return meet_all(self, sp, pc);
}

/* A device does not wait for lanes that have exited. */
void cupel_emu_warp_lane_exited(cupel_emu_warp *warp) {
    if (warp->all_arrived != 0 && warp->all_arrived == warp->alive) finish_all(warp, 0);
    for (uint32_t g = warp->group_count; g-- > 0;)
        if ((warp->groups[g].mask & warp->alive) == warp->groups[g].arrived) finish_group(warp, g, 0);
}

/* The first one of a warp to come, or one that does not do what the others do. */
static cupel_emu_continuation shuffle_apart(cupel_emu_thread *self, void *sp, const void *pc, uint64_t detail,
                                            uint32_t mask) {
    cupel_emu_warp *warp = self->home;
    const bool all = (mask & warp->existing_lanes) == warp->existing_lanes;
    if (all && warp->all_arrived == 0) {
        warp->all_detail = detail;
        warp->all_alike = true;
    } else if (!all || !warp->all_alike || warp->all_detail != detail) {
        if (all && warp->all_operation == OPERATION_SHUFFLE && warp->all_alike)
            tell_apart(warp, warp->all_arrived);
        warp->detail[self->lane] = detail;
    }
    return meet(self, sp, pc, OPERATION_SHUFFLE, mask);
}

static __attribute__((noinline)) cupel_emu_continuation
uncommon_shuffle(void *sp, const void *pc, uint64_t detail, uint32_t mask, uint64_t value) {
    cupel_emu_thread *self = m->current;
    const uint32_t width = (uint32_t)detail >> 8;
    if (m->registers->budget == 0) cupel_emu_budget_spent(pc);
    if (width == 0 || width > CUPEL_EMU_WARP || (width & (width - 1)) != 0) {
        cupel_emu_report_note(
            "a shuffle has a width that is not a power of two up to 32 (undefined on a device)");
        detail = cupel_emu_shuffle_detail(detail & 0xff, (uint32_t)(detail >> 32), CUPEL_EMU_WARP);
    }
    self->home->value[self->lane] = value;
    return shuffle_apart(self, sp, pc, detail, mask);
}

/* The common case, without a frame: a lane that follows others of its warp in what they do. */
cupel_emu_continuation cupel_emu_shuffle_here(void *sp, const void *pc, uint64_t detail, uint32_t mask,
                                              uint64_t value) {
    cupel_emu_thread *self = m->current;
    cupel_emu_warp *warp = self->home;
    if (--m->registers->budget == 0 || detail != warp->all_detail ||
        (mask & warp->existing_lanes) != warp->existing_lanes)
        return uncommon_shuffle(sp, pc, detail, mask, value);
    warp->value[self->lane] = value;
    return meet_all(self, sp, pc);
}

cupel_emu_continuation cupel_emu_vote_here(void *sp, const void *pc, int kind, uint32_t mask, uint64_t value,
                                           int *predicate) {
    cupel_emu_thread *self = m->current;
    cupel_emu_warp *warp = self->home;
    warp->value[self->lane] = value;
    if (kind == CUPEL_EMU_MATCH_ALL) warp->predicate[self->lane] = predicate;
    if (--m->registers->budget == 0) cupel_emu_budget_spent(pc);
    return meet(self, sp, pc, (uint32_t)(OPERATION_VOTE + kind), mask);
}

cupel_emu_continuation cupel_emu_warp_here(void *sp, const void *pc, uint32_t mask) {
    if (--m->registers->budget == 0) cupel_emu_budget_spent(pc);
    return meet(m->current, sp, pc, OPERATION_SYNC, mask);
}

cupel_emu_continuation cupel_emu_matrix_here(void *sp, const void *pc, cupel_emu_matrix *operands) {
    cupel_emu_thread *self = m->current;
    if (--m->registers->budget == 0) cupel_emu_budget_spent(pc);
    self->home->value[self->lane] = (uint64_t)(uintptr_t)operands;
    return meet(self, sp, pc, OPERATION_MATRIX + operands->kind * 16 + operands->count, UINT32_MAX);
}

/* The lanes that ask at one place are told of each other. */
static void answer(cupel_emu_warp *warp, const void *pc) {
    uint32_t slots = 0;
    for (uint32_t left = warp->asking; left != 0; left &= left - 1)
        if (warp->threads[__builtin_ctz(left)].wait_pc == pc) slots |= left & -left;
    warp->asking &= ~slots;
    const uint32_t lanes = lanes_of(warp, slots);
    for (uint32_t left = lanes; left != 0; left &= left - 1) warp->value[__builtin_ctz(left)] = lanes;
}

/* Which lanes run together is not defined for fibers. Those that are at the same call once all others have
 * come as far as they can are an answer that a device may give, and mostly does: all lanes of a branch. */
uint32_t cupel_emu_active_mask(void) {
    const void *pc = __builtin_return_address(0);
    cupel_emu_thread *self = m->current;
    cupel_emu_warp *warp = self->home;
    if (--m->registers->budget == 0) cupel_emu_budget_spent(pc);
    self->wait_pc = pc;
    m->unforeseen++; /* a device may answer otherwise */
    warp->asking |= self->own;
    cupel_emu_block_step(pc);
    if ((warp->asking & self->own) != 0) answer(warp, pc);
    return (uint32_t)warp->value[self->lane];
}
