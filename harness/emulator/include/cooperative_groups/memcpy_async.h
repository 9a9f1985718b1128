/* Copies that a group makes together. Here each thread copies its part at once; what a kernel must not leave out is the wait, which
 * tells the group's threads of each other's parts. */
#ifndef CUPEL_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define CUPEL_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include <cooperative_groups.h>
#include <cuda/cupel_copies.h>

namespace cooperative_groups {

template <class Group> CUPEL_CG void cupel_copy(const Group &group, void *target, const void *source, size_t size) {
    cuda::cupel_copy_now(target, source, size, group.thread_rank(), group.size());
}

/* size: bytes, or an aligned_size_t of bytes. */
template <class Group, class T> CUPEL_CG void memcpy_async(const Group &group, T *target, const T *source, size_t size) {
    cupel_copy(group, target, source, size);
}
template <class Group> CUPEL_CG void memcpy_async(const Group &group, void *target, const void *source, size_t size) {
    cupel_copy(group, target, source, size);
}
/* Elements; the shorter of the two. */
template <class Group, class T>
CUPEL_CG void memcpy_async(const Group &group, T *target, size_t target_count, const T *source, size_t source_count) {
    cupel_copy(group, target, source, (target_count < source_count ? target_count : source_count) * sizeof(T));
}

template <class Group> CUPEL_CG void wait(const Group &group) { group.sync(); }
template <unsigned int Stages, class Group> CUPEL_CG void wait_prior(const Group &group) { group.sync(); }

} // namespace cooperative_groups

#endif
