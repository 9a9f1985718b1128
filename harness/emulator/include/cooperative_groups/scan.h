/* Scans over tiles and coalesced groups, in the order of ranks. */
#ifndef CUPEL_COOPERATIVE_GROUPS_SCAN_H
#define CUPEL_COOPERATIVE_GROUPS_SCAN_H

#include <cooperative_groups/reduce.h>

namespace cooperative_groups {

template <class Group, class T, class F> CUPEL_CG std::decay_t<T> inclusive_scan(const Group &group, T &&value, F &&f) {
    std::decay_t<T> result = value;
    for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
        std::decay_t<T> before = group.shfl_up(result, distance);
        if (group.thread_rank() >= distance) result = f(before, result);
    }
    return result;
}
template <class Group, class T> CUPEL_CG std::decay_t<T> inclusive_scan(const Group &group, T &&value) {
    return inclusive_scan(group, value, plus<std::decay_t<T>>());
}

/* The first thread has nothing before it: it gets a zero. */
template <class Group, class T, class F> CUPEL_CG std::decay_t<T> exclusive_scan(const Group &group, T &&value, F &&f) {
    std::decay_t<T> before = group.shfl_up(inclusive_scan(group, value, f), 1);
    return group.thread_rank() == 0 ? std::decay_t<T>{} : before;
}
template <class Group, class T> CUPEL_CG std::decay_t<T> exclusive_scan(const Group &group, T &&value) {
    return exclusive_scan(group, value, plus<std::decay_t<T>>());
}

} // namespace cooperative_groups

#endif
