/* Atomics. The runtime learns of the access first; the operation itself is plain, for a fiber is never interrupted, and goes past
 * the memory checker, which has seen it. */
#ifndef CUPEL_ATOMICS_H
#define CUPEL_ATOMICS_H

#define CUPEL_PAST_CHECKER(T, p) (*(T __attribute__((address_space(1))) *)(p))

template <class T> CUPEL_INLINE void cupel_atomic_announce(T *p, bool adds_floats) {
    cupel_emu_atomic_access((void *)p, sizeof(T), adds_floats);
}

/* value is computed from old; both are of type T. */
#define CUPEL_ATOMIC(name, T, adds_floats, value)                                                            \
    CUPEL_INLINE T name(T *address, T operand) {                                                             \
        cupel_atomic_announce(address, adds_floats);                                                         \
        T old = CUPEL_PAST_CHECKER(T, address);                                                              \
        CUPEL_PAST_CHECKER(T, address) = (value);                                                            \
        return old;                                                                                          \
    }                                                                                                        \
    CUPEL_INLINE T name##_block(T *address, T operand) { return name(address, operand); }                    \
    CUPEL_INLINE T name##_system(T *address, T operand) { return name(address, operand); }

typedef unsigned long long cupel_ull;

CUPEL_ATOMIC(atomicAdd, int, false, (int)((unsigned)old + (unsigned)operand))
CUPEL_ATOMIC(atomicAdd, unsigned int, false, old + operand)
CUPEL_ATOMIC(atomicAdd, cupel_ull, false, old + operand)
CUPEL_ATOMIC(atomicAdd, float, true, old + operand)
CUPEL_ATOMIC(atomicAdd, double, true, old + operand)
CUPEL_ATOMIC(atomicSub, int, false, (int)((unsigned)old - (unsigned)operand))
CUPEL_ATOMIC(atomicSub, unsigned int, false, old - operand)

#define CUPEL_ATOMIC_INTEGERS(name, value)                                                                   \
    CUPEL_ATOMIC(name, int, false, value)                                                                    \
    CUPEL_ATOMIC(name, unsigned int, false, value)                                                           \
    CUPEL_ATOMIC(name, cupel_ull, false, value)
CUPEL_ATOMIC_INTEGERS(atomicMin, operand < old ? operand : old)
CUPEL_ATOMIC_INTEGERS(atomicMax, operand > old ? operand : old)
CUPEL_ATOMIC(atomicMin, long long, false, operand < old ? operand : old)
CUPEL_ATOMIC(atomicMax, long long, false, operand > old ? operand : old)
CUPEL_ATOMIC_INTEGERS(atomicAnd, old & operand)
CUPEL_ATOMIC_INTEGERS(atomicOr, old | operand)
CUPEL_ATOMIC_INTEGERS(atomicXor, old ^ operand)
CUPEL_ATOMIC(atomicInc, unsigned int, false, old >= operand ? 0u : old + 1u)
CUPEL_ATOMIC(atomicDec, unsigned int, false, old == 0u || old > operand ? operand : old - 1u)

#define CUPEL_ATOMIC_EXCHANGE(T)                                                                             \
    CUPEL_INLINE T atomicExch(T *address, T value) {                                                         \
        cupel_atomic_announce(address, false);                                                               \
        T old = CUPEL_PAST_CHECKER(T, address);                                                              \
        CUPEL_PAST_CHECKER(T, address) = value;                                                              \
        cupel_emu_atomic_exchanged(address);                                                                 \
        return old;                                                                                          \
    }                                                                                                        \
    CUPEL_INLINE T atomicExch_block(T *address, T value) { return atomicExch(address, value); }              \
    CUPEL_INLINE T atomicExch_system(T *address, T value) { return atomicExch(address, value); }
CUPEL_ATOMIC_EXCHANGE(int)
CUPEL_ATOMIC_EXCHANGE(unsigned int)
CUPEL_ATOMIC_EXCHANGE(cupel_ull)
CUPEL_ATOMIC_EXCHANGE(float)

#define CUPEL_ATOMIC_CAS(T)                                                                                  \
    CUPEL_INLINE T atomicCAS(T *address, T compare, T value) {                                               \
        cupel_atomic_announce(address, false);                                                               \
        T old = CUPEL_PAST_CHECKER(T, address);                                                              \
        if (old != compare) return old;                                                                      \
        CUPEL_PAST_CHECKER(T, address) = value;                                                              \
        cupel_emu_atomic_swapped();                                                                          \
        return old;                                                                                          \
    }                                                                                                        \
    CUPEL_INLINE T atomicCAS_block(T *address, T compare, T value) { return atomicCAS(address, compare, value); } \
    CUPEL_INLINE T atomicCAS_system(T *address, T compare, T value) { return atomicCAS(address, compare, value); }
CUPEL_ATOMIC_CAS(int)
CUPEL_ATOMIC_CAS(unsigned int)
CUPEL_ATOMIC_CAS(unsigned long long)
CUPEL_ATOMIC_CAS(unsigned short)

/* 16 bytes at once, for any type of that size and alignment (sm_90). */
typedef unsigned __int128 cupel_u128;
template <class T> CUPEL_INLINE std::enable_if_t<sizeof(T) == 16 && alignof(T) >= 16, T> atomicExch(T *address, T value) {
    cupel_atomic_announce(address, false);
    cupel_u128 old = CUPEL_PAST_CHECKER(cupel_u128, address), bits;
    __builtin_memcpy(&bits, &value, 16);
    CUPEL_PAST_CHECKER(cupel_u128, address) = bits;
    cupel_emu_atomic_exchanged(address);
    T result;
    __builtin_memcpy(&result, &old, 16);
    return result;
}
template <class T>
CUPEL_INLINE std::enable_if_t<sizeof(T) == 16 && alignof(T) >= 16, T> atomicCAS(T *address, T compare, T value) {
    cupel_atomic_announce(address, false);
    cupel_u128 old = CUPEL_PAST_CHECKER(cupel_u128, address), wanted, bits;
    __builtin_memcpy(&wanted, &compare, 16);
    __builtin_memcpy(&bits, &value, 16);
    if (old == wanted) {
        CUPEL_PAST_CHECKER(cupel_u128, address) = bits;
        cupel_emu_atomic_swapped();
    }
    T result;
    __builtin_memcpy(&result, &old, 16);
    return result;
}

/* Elements of a vector are added each by itself (sm_90, global memory); the address must have the vector's alignment. */
template <class V> CUPEL_INLINE void cupel_atomic_aligned(V *address) {
    if ((uintptr_t)address % alignof(V)) cupel_atomic_announce(address, true);
}
CUPEL_INLINE float2 atomicAdd(float2 *address, float2 operand) {
    cupel_atomic_aligned(address);
    float x = atomicAdd(&address->x, operand.x);
    return make_float2(x, atomicAdd(&address->y, operand.y));
}
CUPEL_INLINE float4 atomicAdd(float4 *address, float4 operand) {
    cupel_atomic_aligned(address);
    float x = atomicAdd(&address->x, operand.x), y = atomicAdd(&address->y, operand.y);
    float z = atomicAdd(&address->z, operand.z);
    return make_float4(x, y, z, atomicAdd(&address->w, operand.w));
}
#define CUPEL_ATOMIC_SCOPES(V)                                                                               \
    CUPEL_INLINE V atomicAdd_block(V *address, V operand) { return atomicAdd(address, operand); }            \
    CUPEL_INLINE V atomicAdd_system(V *address, V operand) { return atomicAdd(address, operand); }
CUPEL_ATOMIC_SCOPES(float2)
CUPEL_ATOMIC_SCOPES(float4)

#endif
