/* Reductions over tiles and coalesced groups. Every thread gets the result. */
#ifndef CUPEL_COOPERATIVE_GROUPS_REDUCE_H
#define CUPEL_COOPERATIVE_GROUPS_REDUCE_H

#include <cooperative_groups.h>

namespace cooperative_groups {

#define CUPEL_CG_OPERATION(name, value)                                                                                             \
    template <class T = void> struct name {                                                                                         \
        __device__ inline __attribute__((always_inline)) T operator()(T a, T b) const { return value; }                             \
    };                                                                                                                              \
    template <> struct name<void> {                                                                                                 \
        template <class T> __device__ inline __attribute__((always_inline)) T operator()(T a, T b) const { return value; }          \
    };
CUPEL_CG_OPERATION(plus, a + b)
CUPEL_CG_OPERATION(less, b < a ? b : a)
CUPEL_CG_OPERATION(greater, a < b ? b : a)
CUPEL_CG_OPERATION(bit_and, a &b)
CUPEL_CG_OPERATION(bit_or, a | b)
CUPEL_CG_OPERATION(bit_xor, a ^ b)
#undef CUPEL_CG_OPERATION

/* A butterfly: all lanes come to the same bits where the operation commutes, as a device's do. */
template <unsigned int Size, class Parent, class T, class F>
CUPEL_CG std::decay_t<T> reduce(const thread_block_tile<Size, Parent> &tile, T &&value, F &&f) {
    std::decay_t<T> result = value;
    for (unsigned int distance = Size / 2; distance > 0; distance /= 2) result = f(result, tile.shfl_xor(result, distance));
    return result;
}

/* Folded towards the first thread, which tells the others. */
template <class T, class F> CUPEL_CG std::decay_t<T> reduce(const coalesced_group &group, T &&value, F &&f) {
    std::decay_t<T> result = value;
    for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
        std::decay_t<T> other = group.shfl_down(result, distance);
        if (group.thread_rank() + distance < group.size() && group.thread_rank() % (2 * distance) == 0) result = f(result, other);
    }
    return group.shfl(result, 0);
}

} // namespace cooperative_groups

#endif
