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
        cupel_emu_atomic_exchanged(address);                                                                 \
        return old;                                                                                          \
    }                                                                                                        \
    CUPEL_INLINE T atomicCAS_block(T *address, T compare, T value) { return atomicCAS(address, compare, value); } \
    CUPEL_INLINE T atomicCAS_system(T *address, T compare, T value) { return atomicCAS(address, compare, value); }
CUPEL_ATOMIC_CAS(int)
CUPEL_ATOMIC_CAS(unsigned int)
CUPEL_ATOMIC_CAS(unsigned long long)
CUPEL_ATOMIC_CAS(unsigned short)

#endif
