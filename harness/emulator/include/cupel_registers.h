/* threadIdx, blockIdx, blockDim, gridDim, warpSize, and dynamic shared memory. */
#ifndef CUPEL_REGISTERS_H
#define CUPEL_REGISTERS_H

/* Assembly without side effects: a thread's registers never change while it runs, so the optimiser may reuse a value across
 * barriers, which it could not do with a load; and the memory checker does not see it. */
#define CUPEL_REGISTER_OBJECT(name, field, plain)                                                            \
    struct cupel_##name##_type {                                                                             \
        __declspec(property(get = get_x)) unsigned int x;                                                    \
        __declspec(property(get = get_y)) unsigned int y;                                                    \
        __declspec(property(get = get_z)) unsigned int z;                                                    \
        CUPEL_REGISTER_GETTER(field, x)                                                                      \
        CUPEL_REGISTER_GETTER(field, y)                                                                      \
        CUPEL_REGISTER_GETTER(field, z)                                                                      \
        __device__ inline __attribute__((always_inline)) operator uint3() const { return {x, y, z}; }        \
        __device__ inline __attribute__((always_inline)) operator dim3() const { return dim3(x, y, z); }     \
    };                                                                                                       \
    static const __device__ cupel_##name##_type name;

#define CUPEL_REGISTER_GETTER(field, axis)                                                                   \
    static __device__ inline __attribute__((always_inline)) unsigned int get_##axis() {                      \
        unsigned int value;                                                                                  \
        asm("movl cupel_emu_registers+%c1(%%rip), %0"                                                        \
            : "=r"(value)                                                                                    \
            : "i"(__builtin_offsetof(cupel_emu_registers_t, field.axis)));                                   \
        return value;                                                                                        \
    }

CUPEL_REGISTER_OBJECT(threadIdx, thread, uint3)
CUPEL_REGISTER_OBJECT(blockIdx, block, uint3)
CUPEL_REGISTER_OBJECT(blockDim, block_dim, dim3)
CUPEL_REGISTER_OBJECT(gridDim, grid_dim, dim3)
static constexpr int warpSize = 32;

CUPEL_INLINE unsigned int cupel_lane() {
    unsigned int value;
    asm("movl cupel_emu_registers+%c1(%%rip), %0" : "=r"(value) : "i"(__builtin_offsetof(cupel_emu_registers_t, lane)));
    return value;
}

CUPEL_INLINE void *cupel_dynamic_shared() {
    return *(void *const __attribute__((address_space(1))) *)&cupel_emu_registers.dynamic_shared;
}

/* What an extern __shared__ array is initialised with: T (&name)[] = cupel_emu_dynamic_array(); */
struct cupel_emu_dynamic_array {
    template <class T> __device__ inline __attribute__((always_inline)) operator T &() const {
        return *(T *)cupel_dynamic_shared();
    }
};

#endif
