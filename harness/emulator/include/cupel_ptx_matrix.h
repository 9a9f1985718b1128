/* PTX's matrix instructions: the lanes of a warp hand their registers to the runtime (emu_tensor.c), which knows where the
 * elements lie. */
#ifndef CUPEL_PTX_MATRIX_H
#define CUPEL_PTX_MATRIX_H

template <class X> constexpr int cupel_ptx_matrices = cupel_ptx_is<X, cupel_ptx_x4> ? 4 : cupel_ptx_is<X, cupel_ptx_x2> ? 2 : 1;
template <class T> constexpr uint32_t cupel_ptx_transposed = cupel_ptx_is<T, cupel_ptx_trans> ? 1 : 0;

/* Each row is read by the lane that names it: lane l names row l % 8 of matrix l / 8. */
template <class X, class Trans, int N> CUPEL_INLINE void cupel_ptx_ldmatrix(uint32_t (&d)[N], const void *row) {
    static_assert(N == cupel_ptx_matrices<X>, "ldmatrix has a register for each matrix");
    cupel_emu_matrix m;
    m.kind = CUPEL_EMU_MATRIX_LOAD, m.count = N, m.transposed = cupel_ptx_transposed<Trans>;
    if (cupel_lane() < 8 * N) {
        alignas(16) uint32_t words[4];
        cupel_ptx_ld<cupel_ptx_none>(words, row);
        for (int i = 0; i < 4; i++) m.a[i] = words[i];
    }
    cupel_ptx_fence();
    CUPEL_PTX_OWN_LINE cupel_emu_matrix_sync(&m);
    for (int i = 0; i < N; i++) d[i] = m.d[i];
}
template <class X, class Trans> CUPEL_INLINE void cupel_ptx_ldmatrix(uint32_t &d, const void *row) {
    uint32_t one[1];
    cupel_ptx_ldmatrix<X, Trans>(one, row);
    d = one[0];
}
template <class X, class Trans, int N> CUPEL_INLINE void cupel_ptx_stmatrix(void *row, const uint32_t (&a)[N]) {
    static_assert(N == cupel_ptx_matrices<X>, "stmatrix has a register for each matrix");
    cupel_emu_matrix m;
    m.kind = CUPEL_EMU_MATRIX_STORE, m.count = N, m.transposed = cupel_ptx_transposed<Trans>;
    for (int i = 0; i < N; i++) m.a[i] = a[i];
    cupel_ptx_fence();
    CUPEL_PTX_OWN_LINE cupel_emu_matrix_sync(&m);
    if (cupel_lane() < 8 * N) {
        alignas(16) const uint32_t words[4] = {m.d[0], m.d[1], m.d[2], m.d[3]};
        cupel_ptx_st<cupel_ptx_none>(row, words);
    }
}
template <class X, class Trans> CUPEL_INLINE void cupel_ptx_stmatrix(void *row, uint32_t a) {
    const uint32_t one[1] = {a};
    cupel_ptx_stmatrix<X, Trans>(row, one);
}
CUPEL_INLINE void cupel_ptx_movmatrix(uint32_t &d, uint32_t a) {
    cupel_emu_matrix m;
    m.kind = CUPEL_EMU_MATRIX_MOVE, m.count = 1, m.transposed = 1, m.a[0] = a;
    CUPEL_PTX_OWN_LINE cupel_emu_matrix_sync(&m);
    d = m.d[0];
}

template <class T> struct cupel_ptx_matrix_type;
#define CUPEL_PTX_MATRIX_TYPE(T, name)                                                                       \
    template <> struct cupel_ptx_matrix_type<T> { enum { value = name }; };
CUPEL_PTX_MATRIX_TYPE(__half, CUPEL_EMU_MATRIX_F16)
CUPEL_PTX_MATRIX_TYPE(__nv_bfloat16, CUPEL_EMU_MATRIX_BF16)
CUPEL_PTX_MATRIX_TYPE(cupel_ptx_tf32, CUPEL_EMU_MATRIX_TF32)
CUPEL_PTX_MATRIX_TYPE(int8_t, CUPEL_EMU_MATRIX_S8)
CUPEL_PTX_MATRIX_TYPE(uint8_t, CUPEL_EMU_MATRIX_U8)
CUPEL_PTX_MATRIX_TYPE(float, CUPEL_EMU_MATRIX_F32)
CUPEL_PTX_MATRIX_TYPE(double, CUPEL_EMU_MATRIX_F64)
CUPEL_PTX_MATRIX_TYPE(int32_t, CUPEL_EMU_MATRIX_S32)

/* One product of 16 by K and K by 8 (8 by 4 and 4 by 8 for double). */
template <class A, class B, class D, class C, class Sat, class DR, class AR, class BR, class CR, int ND, int NA, int NB, int NC>
CUPEL_INLINE void cupel_ptx_product_tile(DR (&d)[ND], const AR (&a)[NA], const BR (&b)[NB], const CR (&c)[NC]) {
    cupel_emu_matrix m;
    static_assert(sizeof a <= sizeof m.a && sizeof b <= sizeof m.b && sizeof c <= sizeof m.c && sizeof d <= sizeof m.d, "too many registers");
    m.kind = CUPEL_EMU_MATRIX_PRODUCT, m.count = sizeof a / 4, m.transposed = cupel_ptx_is<Sat, cupel_ptx_satfinite>;
    m.a_type = cupel_ptx_matrix_type<A>::value, m.b_type = cupel_ptx_matrix_type<B>::value;
    m.c_type = cupel_ptx_matrix_type<C>::value, m.d_type = cupel_ptx_matrix_type<D>::value;
    __builtin_memcpy(m.a, a, sizeof a);
    __builtin_memcpy(m.b, b, sizeof b);
    __builtin_memcpy(m.c, c, sizeof c);
    CUPEL_PTX_OWN_LINE cupel_emu_matrix_sync(&m);
    __builtin_memcpy(d, m.d, sizeof d);
}
template <class A, class B, class D, class C, class Sat, class DR, class AR, class CR, int ND, int NA, int NB, int NC>
CUPEL_INLINE void cupel_ptx_mma(DR (&d)[ND], const AR (&a)[NA], const AR (&b)[NB], const CR (&c)[NC]) {
    cupel_ptx_product_tile<A, B, D, C, Sat>(d, a, b, c);
}
template <class A, class B, class D, class C, class Sat, class DR, class AR, class CR, int ND, int NA, int NC>
CUPEL_INLINE void cupel_ptx_mma(DR (&d)[ND], const AR (&a)[NA], AR b, const CR (&c)[NC]) {
    const AR one[1] = {b};
    cupel_ptx_product_tile<A, B, D, C, Sat>(d, a, one, c);
}

#endif
