/* A limit at one binding. */
#include "resources.h"

#include <inttypes.h>
#include <stdio.h>

#include "resources_impl.h"

const char *cupel_limit_name(cupel_limit limit) {
    static const char *const names[] = {
#define CUPEL_LIMIT_TEXT(name, text) text,
        CUPEL_LIMITS(CUPEL_LIMIT_TEXT)
#undef CUPEL_LIMIT_TEXT
    };
    return (unsigned)limit < CUPEL_LIMIT_COUNT ? names[limit] : "?";
}

void cupel_resources_bounds(const cupel_limit_question *q, cupel_limit limit, int64_t *least, int64_t *most) {
    const cupel_device_limits *device = q->device;
    *least = 1;
    *most = INT64_MAX;
    switch (limit) {
    case CUPEL_LIMIT_GRID_EMPTY:
    case CUPEL_LIMIT_BLOCK_EMPTY: return;
    case CUPEL_LIMIT_GRID_X:
    case CUPEL_LIMIT_GRID_Y:
    case CUPEL_LIMIT_GRID_Z: *most = device->grid[limit - CUPEL_LIMIT_GRID_X]; break;
    case CUPEL_LIMIT_BLOCK_X:
    case CUPEL_LIMIT_BLOCK_Y:
    case CUPEL_LIMIT_BLOCK_Z: *most = device->block[limit - CUPEL_LIMIT_BLOCK_X]; break;
    case CUPEL_LIMIT_THREADS: *most = device->threads; break;
    case CUPEL_LIMIT_LAUNCH_BOUNDS:
        if (q->needs.max_threads > 0) *most = q->needs.max_threads;
        break;
    case CUPEL_LIMIT_REGISTERS: *most = cupel_device_limits_threads(device, q->needs.registers); break;
    case CUPEL_LIMIT_RESIDENT: *most = 0; break; /* of blocks beyond those that are resident */
    default: *most = device->shared_optin - q->needs.static_shared; break;
    }
    /* empty extents are a limit of their own */
    *least = limit == CUPEL_LIMIT_SHARED ? 0 : INT64_MIN;
}

/* ---- at one binding ---- */

typedef int64_t strides_table[CUPEL_TENSOR_MAX][CUPEL_RANK_MAX];

/* As cupel_case_materialise lays out a contiguous tensor: an empty axis counts as one element. */
static bool find_strides(const cupel_binding *binding, strides_table strides) {
    for (int t = 0; t < binding->contract->tensor_count; t++) {
        int64_t shape[CUPEL_RANK_MAX], count, stride = 1;
        if (cupel_binding_shape(binding, t, shape, &count, NULL) != CUPEL_OK) return false;
        for (int i = binding->contract->tensors[t].rank - 1; i >= 0; i--) {
            strides[t][i] = stride;
            if (__builtin_mul_overflow(stride, shape[i] ? shape[i] : 1, &stride)) return false;
        }
    }
    return true;
}

static bool value_of(const cupel_binding *binding, const cupel_scalar_expr *expr, strides_table strides,
                     int64_t *out) {
    cupel_scalar value;
    if (cupel_binding_scalar(binding, expr, (const int64_t(*)[CUPEL_RANK_MAX])strides, &value, NULL) !=
            CUPEL_OK ||
        value.real)
        return false;
    *out = value.i;
    return true;
}

static bool is_skipped(const cupel_binding *binding, const cupel_launch *launch, strides_table strides,
                       bool *skipped) {
    cupel_scalar value = {0};
    if (launch->skip_if &&
        cupel_binding_scalar(binding, launch->skip_if, (const int64_t(*)[CUPEL_RANK_MAX])strides, &value,
                             NULL) != CUPEL_OK)
        return false;
    *skipped = value.real ? value.d != 0 : value.i != 0;
    return true;
}

static bool extents_of(const cupel_binding *binding, cupel_scalar_expr *const *exprs, int rank,
                       strides_table strides, int64_t out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = 1;
        if (i < rank && !value_of(binding, exprs[i], strides, &out[i])) return false;
    }
    return true;
}

static int64_t least_of(const int64_t extents[3]) {
    int64_t least = extents[0];
    for (int i = 1; i < 3; i++)
        if (extents[i] < least) least = extents[i];
    return least;
}

static bool quantity_of(const cupel_binding *binding, const cupel_launch *launch, cupel_limit limit,
                        strides_table strides, int64_t *out) {
    int64_t extents[3];
    bool grid = limit <= CUPEL_LIMIT_GRID_Z;
    if (limit == CUPEL_LIMIT_SHARED) {
        *out = 0;
        return !launch->shared || value_of(binding, launch->shared, strides, out);
    }
    if (!extents_of(binding, grid ? launch->grid : launch->block,
                    grid ? launch->grid_rank : launch->block_rank, strides, extents))
        return false;
    if (limit == CUPEL_LIMIT_GRID_EMPTY || limit == CUPEL_LIMIT_BLOCK_EMPTY)
        *out = least_of(extents);
    else if (grid)
        *out = extents[limit - CUPEL_LIMIT_GRID_X];
    else if (limit <= CUPEL_LIMIT_BLOCK_Z)
        *out = extents[limit - CUPEL_LIMIT_BLOCK_X];
    else
        return !__builtin_mul_overflow(extents[0], extents[1], out) &&
               !__builtin_mul_overflow(*out, extents[2], out);
    return true;
}

/* The most of a cooperative launch depends on its block and its shared memory. */
static bool residence_of(const cupel_limit_question *q, const cupel_binding *binding, strides_table strides,
                         cupel_limit_value *out) {
    const cupel_launch *launch = &q->contract->launches[q->launch];
    int64_t grid[3], threads, shared;
    if (!launch->cooperative) {
        *out = (cupel_limit_value){0, 0, 0};
        return true;
    }
    if (!extents_of(binding, launch->grid, launch->grid_rank, strides, grid) ||
        !quantity_of(binding, launch, CUPEL_LIMIT_THREADS, strides, &threads) ||
        !quantity_of(binding, launch, CUPEL_LIMIT_SHARED, strides, &shared))
        return false;
    out->least = INT64_MIN;
    out->most =
        cupel_device_limits_resident(q->device, threads, q->needs.registers, shared + q->needs.static_shared);
    /* a block that no device takes is a limit of its own */
    if (out->most == 0) out->most = INT64_MAX;
    return !__builtin_mul_overflow(grid[0], grid[1], &out->value) &&
           !__builtin_mul_overflow(out->value, grid[2], &out->value);
}

bool cupel_resources_refused(const cupel_limit_question *q, const cupel_binding *binding, cupel_limit limit,
                             cupel_limit_value *out) {
    const cupel_launch *launch = &q->contract->launches[q->launch];
    strides_table strides = {{0}};
    cupel_limit_value found;
    bool skipped = false;
    cupel_resources_bounds(q, limit, &found.least, &found.most);
    if (!find_strides(binding, strides) || !is_skipped(binding, launch, strides, &skipped) || skipped ||
        !(limit == CUPEL_LIMIT_RESIDENT ? residence_of(q, binding, strides, &found)
                                        : quantity_of(binding, launch, limit, strides, &found.value)))
        return false;
    if (out) *out = found;
    return found.value < found.least || found.value > found.most;
}

int64_t cupel_resources_bytes(const cupel_binding *binding) {
    const cupel_contract *c = binding->contract;
    int64_t total = 0;
    for (int t = 0; t < c->tensor_count; t++) {
        int64_t shape[CUPEL_RANK_MAX], count, bytes;
        cupel_scalar below;
        if (cupel_binding_shape(binding, t, shape, &count, NULL) != CUPEL_OK) return -1;
        if (c->tensors[t].below &&
            (cupel_binding_scalar(binding, c->tensors[t].below, NULL, &below, NULL) != CUPEL_OK ||
             below.real || (count > 0 && below.i < 1)))
            return -1;
        bytes = count * (int64_t)cupel_format_of(cupel_binding_type(binding, t))->size; /* at most 2^43 */
        total += bytes;
    }
    return total;
}

void cupel_resources_describe(const cupel_limit_question *q, const char *entry, cupel_limit limit,
                              const cupel_limit_value *v, char *text, size_t size) {
    const char *device = q->device->name;
    switch (limit) {
    case CUPEL_LIMIT_GRID_EMPTY:
    case CUPEL_LIMIT_BLOCK_EMPTY:
        snprintf(text, size, "%s: an extent of the %s is %" PRId64 ", a device takes at least 1", entry,
                 limit == CUPEL_LIMIT_GRID_EMPTY ? "grid" : "block", v->value);
        return;
    case CUPEL_LIMIT_THREADS:
        snprintf(text, size, "%s: %" PRId64 " threads a block, %s takes %" PRId64 " at most", entry, v->value,
                 device, v->most);
        return;
    case CUPEL_LIMIT_LAUNCH_BOUNDS:
        snprintf(text, size, "%s: %" PRId64 " threads a block, __launch_bounds__ allows %" PRId64, entry,
                 v->value, v->most);
        return;
    case CUPEL_LIMIT_REGISTERS:
        snprintf(text, size,
                 "%s: %" PRId64 " threads a block with %d registers each, %s has %" PRId64
                 " registers a block: enough for %" PRId64 " threads",
                 entry, v->value, q->needs.registers, device, q->device->registers_block, v->most);
        return;
    case CUPEL_LIMIT_SHARED:
        snprintf(text, size,
                 "%s: %" PRId64 " bytes of dynamic and %" PRId64 " of static shared memory, %s takes %" PRId64
                 " at most",
                 entry, v->value, q->needs.static_shared, device, q->device->shared_optin);
        return;
    case CUPEL_LIMIT_RESIDENT:
        snprintf(text, size,
                 "%s: a cooperative launch of %" PRId64 " blocks, the largest device of %s (%" PRId64
                 " multiprocessors) keeps %" PRId64 " resident at most",
                 entry, v->value, device, q->device->multiprocessors, v->most);
        return;
    default:
        snprintf(text, size, "%s: %s is %" PRId64 ", %s takes %" PRId64 " at most", entry,
                 cupel_limit_name(limit), v->value, device, v->most);
    }
}
