/* Asynchronous copies: the primitives, and nvcuda::experimental::pipeline of one thread. */
#ifndef CUPEL_CUDA_PIPELINE_H
#define CUPEL_CUDA_PIPELINE_H

#include "cuda_pipeline_primitives.h"

namespace nvcuda {
namespace experimental {

class pipeline {
    size_t committed = 0;

  public:
    __device__ size_t commit() {
        __pipeline_commit();
        return committed++;
    }
    __device__ void wait(size_t batch) { __pipeline_wait_prior(committed - 1 - batch); }
    template <unsigned N> __device__ void wait_prior() { __pipeline_wait_prior(N); }
};
template <class T> CUPEL_INLINE void memcpy_async(T &target, const T &source, pipeline &) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "an asynchronous copy is of 4, 8 or 16 bytes");
    CUPEL_PTX_OWN_LINE cupel_emu_async_copy(&target, &source, sizeof(T), sizeof(T));
}

} // namespace experimental
} // namespace nvcuda

#endif
