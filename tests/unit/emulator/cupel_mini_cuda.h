/* The least that a kernel needs to run on the emulator: the tests of the runtime do not depend on the CUDA
 * headers. */
#define __device__ __attribute__((device))
#define __global__ __attribute__((device))
#define __shared__ static __attribute__((shared, used, section("cupel_shared")))
#define INLINE static __device__ inline __attribute__((always_inline))

#include "emu_abi.h"

extern "C" __device__ __attribute__((visibility("hidden"))) cupel_emu_registers_t cupel_emu_registers;

INLINE unsigned tid() {
    return CUPEL_EMU_REGISTER(thread.x);
}
INLINE unsigned tid_y() {
    return CUPEL_EMU_REGISTER(thread.y);
}
INLINE unsigned bid() {
    return CUPEL_EMU_REGISTER(block.x);
}
INLINE unsigned bdim() {
    return CUPEL_EMU_REGISTER(block_dim.x);
}
INLINE unsigned gdim() {
    return CUPEL_EMU_REGISTER(grid_dim.x);
}
INLINE void sync() {
    cupel_emu_barrier_sync(CUPEL_EMU_SYNC, 0);
}
INLINE float *dynamic_shared() {
    return (float *)*(void *const __attribute__((address_space(1))) *)&cupel_emu_registers.dynamic_shared;
}

template <class T>
INLINE T shuffle(int kind, unsigned mask, T value, unsigned argument, unsigned width = 32) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    bits = cupel_emu_shuffle_sync(cupel_emu_shuffle_detail(kind, argument, width), mask, bits);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/* Atomics: announced as one access, then carried out where the checker does not look. */
template <class T> INLINE T atomic_exchange(T *p, T value) {
    cupel_emu_atomic_access(p, sizeof(T), 0);
    __attribute__((address_space(1))) T *at = (__attribute__((address_space(1))) T *)p;
    T old = *at;
    *at = value;
    return old;
}
INLINE int atomic_add(int *p, int value) {
    cupel_emu_atomic_access(p, sizeof(int), 0);
    __attribute__((address_space(1))) int *at = (__attribute__((address_space(1))) int *)p;
    int old = *at;
    *at = old + value;
    return old;
}

struct alignas(16) float4 {
    typedef float vector __attribute__((ext_vector_type(4)));
    union {
        struct {
            float x, y, z, w;
        };
        vector all;
    };
    float4() = default;
    __device__ inline __attribute__((always_inline)) float4(const float4 &other) : all(other.all) {}
    __device__ inline __attribute__((always_inline)) float4 &operator=(const float4 &other) {
        all = other.all;
        return *this;
    }
};

/* Typed thunks. */
template <int... I> struct indices {};
template <class T, T... I> using to_indices = indices<I...>;
template <auto F> struct thunk;
template <class... A, void (*F)(A...)> struct thunk<F> {
    template <int... I> static __device__ void spread(void *const *args, indices<I...>) {
        F(*(A *)args[I]...);
    }
    static __device__ void call(void *const *args) {
        spread(args, __make_integer_seq<to_indices, int, sizeof...(A)>());
    }
    static constexpr unsigned count = sizeof...(A);
};
template <class F> struct sizes;
template <class... A> struct sizes<void (*)(A...)> {
    static __device__ constexpr cupel_emu_param list[] = {{sizeof(A), 0, 0, 0, 0, "?"}...,
                                                          {0, 0, 0, 0, 0, ""}};
};

#define ENTRY(function, bounds)                                                                              \
    {                                                                                                        \
#function, thunk < &function> ::call, thunk < &function> ::count,                                    \
            sizes < decltype(&function)> ::list, bounds                                                      \
    }
#define CANDIDATE(...)                                                                                       \
    extern "C" __device__ const cupel_emu_kernel candidate_kernels[] = {__VA_ARGS__};                        \
    extern "C" __device__ const uint32_t candidate_kernel_count =                                            \
        sizeof candidate_kernels / sizeof candidate_kernels[0];
