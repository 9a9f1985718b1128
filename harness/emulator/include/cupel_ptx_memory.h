/* PTX's loads, stores, atomics, fences, address conversions and asynchronous copies. Cache hints mean nothing here. */
#ifndef CUPEL_PTX_MEMORY_H
#define CUPEL_PTX_MEMORY_H

/* One access as wide as the instruction's, so that the checker sees its width and alignment. */
template <int Bytes> struct cupel_ptx_piece;
template <> struct cupel_ptx_piece<1> { typedef uint8_t type; };
template <> struct cupel_ptx_piece<2> { typedef uint16_t type; };
template <> struct cupel_ptx_piece<4> { typedef uint32_t type; };
template <> struct cupel_ptx_piece<8> { typedef uint64_t type; };
typedef uint32_t cupel_ptx_sixteen __attribute__((ext_vector_type(4)));
template <> struct cupel_ptx_piece<16> { typedef cupel_ptx_sixteen type; };

/* An acquire is seen after it, a release before it; a volatile access is made. */
template <class Sem> constexpr bool cupel_ptx_ordered = !cupel_ptx_is<Sem, cupel_ptx_none> && !cupel_ptx_is<Sem, cupel_ptx_weak>;

template <class Sem> CUPEL_INLINE void cupel_ptx_before() {
    cupel_ptx_fence();
    if constexpr (cupel_ptx_is<Sem, cupel_ptx_release> || cupel_ptx_is<Sem, cupel_ptx_acq_rel>) CUPEL_FENCE();
}

template <class Sem, class T> CUPEL_INLINE void cupel_ptx_ld(T &d, const void *p) {
    typedef typename cupel_ptx_piece<sizeof(T)>::type piece;
    if constexpr (cupel_ptx_ordered<Sem>) {
        cupel_ptx_fence();
        CUPEL_STRONG(p);
        const piece bits = *(const volatile piece *)p;
        __builtin_memcpy(&d, &bits, sizeof d);
        cupel_ptx_fence();
    } else {
        CUPEL_ANEW(p);
        const piece bits = *(const piece *)p;
        __builtin_memcpy(&d, &bits, sizeof d);
    }
}
template <class Sem, class T> CUPEL_INLINE void cupel_ptx_st(void *p, T a) {
    typedef typename cupel_ptx_piece<sizeof(T)>::type piece;
    piece bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    if constexpr (cupel_ptx_ordered<Sem>) {
        cupel_ptx_before<Sem>();
        CUPEL_STRONG(p);
        *(volatile piece *)p = bits;
        cupel_ptx_fence();
    } else
        *(piece *)p = bits;
}
template <class Sem, class T, int N> CUPEL_INLINE void cupel_ptx_st(void *p, const T (&a)[N]) {
    typename cupel_ptx_piece<N * sizeof(T)>::type bits;
    __builtin_memcpy(&bits, a, sizeof bits);
    cupel_ptx_st<Sem>(p, bits);
}
template <class Sem, class T, int N> CUPEL_INLINE void cupel_ptx_ld(T (&d)[N], const void *p) {
    typename cupel_ptx_piece<N * sizeof(T)>::type bits;
    cupel_ptx_ld<Sem>(bits, p);
    __builtin_memcpy(d, &bits, sizeof bits);
}

template <class Sem, class D> CUPEL_INLINE void cupel_ptx_ld_policy(D &d, const void *p, uint64_t) { cupel_ptx_ld<Sem>(d, p); }
template <class Sem, class T> CUPEL_INLINE void cupel_ptx_st_policy(void *p, const T &a, uint64_t) { cupel_ptx_st<Sem>(p, a); }

CUPEL_INLINE void cupel_ptx_nothing() {}
CUPEL_INLINE void cupel_ptx_nothing(const void *) {}
CUPEL_INLINE void cupel_ptx_nothing(const void *, uint32_t) {}
CUPEL_INLINE void cupel_ptx_nothing(uint32_t) {}
CUPEL_INLINE void cupel_ptx_policy(uint64_t &d) { d = 0; }
CUPEL_INLINE void cupel_ptx_policy(uint64_t &d, float) { d = 0; }

CUPEL_INLINE void cupel_ptx_cvta_to_shared(uint64_t &d, uint64_t a) { d = cupel_to_window((const void *)a); }
CUPEL_INLINE void cupel_ptx_cvta_to_shared(uint32_t &d, uint32_t a) { d = a; }
CUPEL_INLINE void cupel_ptx_cvta_shared(uint64_t &d, uint64_t a) { d = (uint64_t)cupel_from_window(a); }
template <class T> CUPEL_INLINE void cupel_ptx_cvta_same(T &d, T a) { d = a; }
CUPEL_INLINE void cupel_ptx_isspacep_shared(bool &p, uint64_t a) { p = cupel_to_window((const void *)a) != a; }

/* Operation by name, on types that CUDA's atomics know. */
template <class T>
using cupel_ptx_atomic_type = std::conditional_t<std::is_same<T, uint64_t>::value, unsigned long long, std::conditional_t<std::is_same<T, int64_t>::value, long long, T>>;
template <class Op, class T> CUPEL_INLINE T cupel_ptx_atomic(T *p, T b) {
    if constexpr (cupel_ptx_is<Op, cupel_ptx_add>) return atomicAdd(p, b);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_min>) return atomicMin(p, b);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_max>) return atomicMax(p, b);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_and>) return atomicAnd(p, b);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_or>) return atomicOr(p, b);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_xor>) return atomicXor(p, b);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_exch>) return atomicExch(p, b);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_inc>) return atomicInc(p, b);
    else return atomicDec(p, b);
}
template <class Op, class Sem, class T> CUPEL_INLINE void cupel_ptx_atom(T &d, void *p, T b) {
    typedef cupel_ptx_atomic_type<T> A;
    cupel_ptx_before<Sem>();
    if constexpr (cupel_ptx_is<Op, cupel_ptx_add> && cupel_ptx_is<T, int64_t>)
        d = (T)atomicAdd((unsigned long long *)p, (unsigned long long)b);
    else
        d = (T)cupel_ptx_atomic<Op, A>((A *)p, (A)b);
    cupel_ptx_fence();
}
template <class Op, class Sem, class E> CUPEL_INLINE void cupel_ptx_atom(cupel_ptx_two<E> &d, void *p, cupel_ptx_two<E> b) {
    d.x = atomicAdd((E *)p, b.x), d.y = atomicAdd((E *)p + 1, b.y);
}
template <class Op, class Sem, class T> CUPEL_INLINE void cupel_ptx_red(void *p, T b) {
    T old;
    cupel_ptx_atom<Op, Sem>(old, p, b);
}
template <class Sem, class T> CUPEL_INLINE void cupel_ptx_atom_cas(T &d, void *p, T compare, T value) {
    typedef cupel_ptx_atomic_type<T> A;
    cupel_ptx_before<Sem>();
    d = (T)atomicCAS((A *)p, (A)compare, (A)value);
    cupel_ptx_fence();
}

/* size bytes of which the last size - from are zeros; the cache policy means nothing */
CUPEL_INLINE void cupel_ptx_cp_async(void *to, const void *from, uint32_t size) { CUPEL_PTX_OWN_LINE cupel_emu_async_copy(to, from, size, size); }
CUPEL_INLINE void cupel_ptx_cp_async(void *to, const void *from, uint32_t size, uint32_t filled) {
    CUPEL_PTX_OWN_LINE cupel_emu_async_copy(to, from, size, filled);
}
CUPEL_INLINE void cupel_ptx_cp_async_policy(void *to, const void *from, uint32_t size, uint64_t) { CUPEL_PTX_OWN_LINE cupel_emu_async_copy(to, from, size, size); }
CUPEL_INLINE void cupel_ptx_cp_async_policy(void *to, const void *from, uint32_t size, uint32_t filled, uint64_t) {
    CUPEL_PTX_OWN_LINE cupel_emu_async_copy(to, from, size, filled);
}
/* The copies write memory behind the compiler's back. */
CUPEL_INLINE void cupel_ptx_cp_async_commit() { cupel_emu_async_commit(); }
CUPEL_INLINE void cupel_ptx_cp_async_wait(uint32_t left) {
    cupel_ptx_fence();
    CUPEL_PTX_OWN_LINE cupel_emu_async_wait(left);
    cupel_ptx_fence();
}
CUPEL_INLINE void cupel_ptx_cp_async_wait_all() {
    cupel_emu_async_commit();
    cupel_ptx_cp_async_wait(0);
}

#endif
