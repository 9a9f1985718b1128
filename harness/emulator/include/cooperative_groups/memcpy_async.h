/* Copies that a group makes together. Here each thread copies its part at once; what a kernel must not leave out is the wait, which
 * tells the group's threads of each other's parts. */
#ifndef CUPEL_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define CUPEL_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include <cooperative_groups.h>

#ifndef CUPEL_ALIGNED_SIZE
#define CUPEL_ALIGNED_SIZE
namespace cuda {
template <size_t Alignment> struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;
    CUPEL_CG_MEMBER explicit constexpr aligned_size_t(size_t size) : value(size) {}
    CUPEL_CG_MEMBER constexpr operator size_t() const { return value; }
};
} // namespace cuda
#endif

namespace cooperative_groups {

/* Pieces of the largest size that addresses and length allow, one thread after the other. */
template <class Piece, class Group> CUPEL_CG void cupel_copy_pieces(const Group &group, void *target, const void *source, size_t size) {
    for (size_t i = group.thread_rank(); i < size / sizeof(Piece); i += group.size()) ((Piece *)target)[i] = ((const Piece *)source)[i];
}
template <class Group> CUPEL_CG void cupel_copy(const Group &group, void *target, const void *source, size_t size) {
    const size_t bits = (size_t)target | (size_t)source | size;
    if (bits % 16 == 0)
        cupel_copy_pieces<int4>(group, target, source, size);
    else if (bits % 8 == 0)
        cupel_copy_pieces<uint64_t>(group, target, source, size);
    else if (bits % 4 == 0)
        cupel_copy_pieces<uint32_t>(group, target, source, size);
    else
        cupel_copy_pieces<unsigned char>(group, target, source, size);
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
