/* What <cuda/barrier>, <cuda/pipeline> and <cooperative_groups/memcpy_async.h> share. */
#ifndef CUPEL_CUDA_COPIES
#define CUPEL_CUDA_COPIES

#include <cuda/cupel_scopes.h>

namespace cuda {

template <size_t Alignment> struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;
    __host__ __device__ explicit constexpr aligned_size_t(size_t size) : value(size) {}
    __host__ __device__ constexpr operator size_t() const { return value; }
};

/* A thread's share of size bytes: every count-th piece. The pieces are as wide as addresses and size allow. */
template <class Piece> CUPEL_INLINE void cupel_copy_pieces(void *to, const void *from, size_t size, size_t rank, size_t count) {
    for (size_t i = rank; i < size / sizeof(Piece); i += count) ((Piece *)to)[i] = ((const Piece *)from)[i];
}
CUPEL_INLINE void cupel_copy_now(void *to, const void *from, size_t size, size_t rank, size_t count) {
    const size_t bits = (size_t)to | (size_t)from | size;
    if (bits % 16 == 0) cupel_copy_pieces<cupel_ptx_sixteen>(to, from, size, rank, count);
    else if (bits % 8 == 0) cupel_copy_pieces<uint64_t>(to, from, size, rank, count);
    else if (bits % 4 == 0) cupel_copy_pieces<uint32_t>(to, from, size, rank, count);
    else cupel_copy_pieces<unsigned char>(to, from, size, rank, count);
}
CUPEL_INLINE void cupel_copy_later(void *to, const void *from, size_t size, size_t rank, size_t count) {
    const size_t bits = (size_t)to | (size_t)from | size, width = bits % 16 == 0 ? 16 : bits % 8 == 0 ? 8 : 4;
    if (bits % 4 != 0 || !__isShared(to) || !__isGlobal(from)) {
        cupel_copy_now(to, from, size, rank, count);
        return;
    }
    for (size_t i = rank; i < size / width; i += count)
        CUPEL_PTX_OWN_LINE cupel_emu_async_copy((char *)to + i * width, (const char *)from + i * width, (uint32_t)width, (uint32_t)width);
}

} // namespace cuda

#endif
