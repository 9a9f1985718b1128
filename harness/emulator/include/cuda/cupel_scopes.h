/* Scopes and orders of libcu++. */
#ifndef CUPEL_CUDA_SCOPES
#define CUPEL_CUDA_SCOPES

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
} // namespace cuda

#endif
