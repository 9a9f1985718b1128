/* Included before every emulated source, which is compiled by clang's CUDA front end in device mode, aimed at the host. Kernels are
 * plain device functions there: a thunk calls them. */
#ifndef CUPEL_PRELUDE_H
#define CUPEL_PRELUDE_H

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 0
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
/* inline: kernels that no entry names are parsed and not compiled, so their branches and shared variables do not count */
#define __global__ inline __attribute__((device))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
/* In one section, so that the runtime can poison it; static and used, or clang removes reads of what was never written. */
#define __shared__ static __attribute__((shared, used, section("cupel_shared")))
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __nv_pure__
#define CUDARTAPI

/* The C library's functions on the process: device code that calls one is an error of its author's. Before the
 * library's own declarations, so that std::exit is known by this one too. */
#define CUPEL_HOST_ONLY(name) __attribute__((unavailable(#name " is not a device function")))
#pragma clang force_cuda_host_device begin
extern "C" {
CUPEL_HOST_ONLY(exit) void exit(int) noexcept;
CUPEL_HOST_ONLY(_Exit) void _Exit(int) noexcept;
CUPEL_HOST_ONLY(quick_exit) void quick_exit(int) noexcept;
CUPEL_HOST_ONLY(abort) void abort() noexcept;
CUPEL_HOST_ONLY(atexit) int atexit(void (*)()) noexcept;
CUPEL_HOST_ONLY(system) int system(const char *);
CUPEL_HOST_ONLY(_exit) void _exit(int);
CUPEL_HOST_ONLY(fork) int fork() noexcept;
CUPEL_HOST_ONLY(vfork) int vfork() noexcept;
}
#pragma clang force_cuda_host_device end

/* The C++ library is the host's; in device mode its functions must be callable from device code. <new> declares functions that
 * clang knows already, so it stays outside. */
#include <new>
#pragma clang force_cuda_host_device begin
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <inttypes.h>
#include <limits>
#include <math.h>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>
#pragma clang force_cuda_host_device end

/* Objects made at a place that is given; the library's own is a host function. */
__attribute__((device)) inline void *operator new(size_t, void *place) noexcept { return place; }
__attribute__((device)) inline void *operator new[](size_t, void *place) noexcept { return place; }

/* Only now: the library's headers choose host code paths. sm_90 is what the contract's limits default to. */
#undef __CUDA_ARCH__
#define __CUDA_ARCH__ 900

#include "emu_abi.h"
#ifdef CUPEL_EMU_STRICT
#include "emu_strict.h"
#endif

#define CUPEL_INLINE static __device__ inline __attribute__((always_inline))
#define CUPEL_BOTH static __host__ __device__ inline __attribute__((always_inline))

extern "C" __device__ __attribute__((visibility("hidden"))) cupel_emu_registers_t cupel_emu_registers;

#include "cupel_vectors.h"
#include "cupel_registers.h"
#include "cupel_integers.h"
#include "cupel_math.h"
#include "cupel_special_math.h"
#include "cupel_simd.h"
#include "cupel_rounding.h"
#include "cupel_memory.h"
#include "cupel_warp.h"
#include "cupel_atomics.h"
#include "cupel_host_api.h"
#include "cuda_fp16.h"
#include "cuda_bf16.h"
#include "cuda_fp8.h"
#include "cupel_ptx.h"
#include "cupel_thunk.h"

/* libcu++'s copy of the C++ library is the library: its headers (cuda/std/...) are left out. */
namespace cuda {
namespace std = ::std;
}

#endif
