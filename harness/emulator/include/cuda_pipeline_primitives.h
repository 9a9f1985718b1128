/* Asynchronous copies as functions: cp.async with the same waits (cuda_pipeline_primitives.h of CUDA). */
#ifndef CUPEL_CUDA_PIPELINE_PRIMITIVES_H
#define CUPEL_CUDA_PIPELINE_PRIMITIVES_H

/* The last zfill bytes of the target become zeros. */
CUPEL_INLINE void __pipeline_memcpy_async(void *__restrict__ target, const void *__restrict__ source, size_t size, size_t zfill = 0) {
    CUPEL_PTX_OWN_LINE cupel_emu_async_copy(target, source, (uint32_t)size, (uint32_t)(size - zfill));
}
CUPEL_INLINE void __pipeline_commit() { cupel_ptx_cp_async_commit(); }
/* Until all but the latest `prior` batches have arrived. */
CUPEL_INLINE void __pipeline_wait_prior(size_t prior) { cupel_ptx_cp_async_wait((uint32_t)prior); }

#endif
