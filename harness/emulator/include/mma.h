/* nvcuda::wmma: fragments of matrices over the lanes of a warp. Where an element lies in a fragment is not specified by CUDA; here
 * fragments are made of the tiles of mma.sync m16n8 (cupel_ptx_matrix.h), as on devices since sm_80. m8n32 is the product of the
 * transposed matrices. */
#ifndef CUPEL_MMA_H
#define CUPEL_MMA_H

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

/* How a type lies in registers: what is stored, elements in a register, registers of a tile of A. */
template <class T> struct cupel_kind;
template <class T, class Tag, int E, int Registers> struct cupel_kind_of {
    typedef T stored;
    typedef Tag tag;
    static constexpr int each = E, registers = Registers;
};
template <> struct cupel_kind<__half> : cupel_kind_of<__half, __half, 2, 4> {};
template <> struct cupel_kind<__nv_bfloat16> : cupel_kind_of<__nv_bfloat16, __nv_bfloat16, 2, 4> {};
template <> struct cupel_kind<signed char> : cupel_kind_of<signed char, int8_t, 4, 2> {};
template <> struct cupel_kind<unsigned char> : cupel_kind_of<unsigned char, uint8_t, 4, 2> {};
template <> struct cupel_kind<precision::tf32> : cupel_kind_of<float, cupel_ptx_tf32, 1, 4> {};
template <> struct cupel_kind<double> : cupel_kind_of<double, double, 1, 2> {};

/* The shapes that CUDA has for a type; tiles of 16 (8 for double) along the longer side and of 8 along the other. */
template <int m, int n, int k, class T> struct cupel_shape {
    static constexpr bool narrow = std::is_same<T, double>::value, single = std::is_same<T, precision::tf32>::value;
    static constexpr bool known = narrow   ? m == 8 && n == 8 && k == 4
                                  : single ? m == 16 && n == 16 && k == 8
                                           : k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
    static constexpr bool swapped = !narrow && m == 8;
    static constexpr int long_tiles = narrow ? 1 : (swapped ? n : m) / 16, short_tiles = narrow ? 1 : (swapped ? m : n) / 8;
};

CUPEL_INLINE int cupel_group() { return (int)cupel_lane() / 4; }
CUPEL_INLINE int cupel_place() { return (int)cupel_lane() % 4; }

/* A side of the product: its tiles' elements one after the other, then again up to the number that devices have. */
template <class Use, int m, int n, int k, class T> struct cupel_side {
    typedef cupel_shape<m, n, k, T> shape;
    static_assert(shape::known, "a shape that wmma does not have for this type");
    typedef cupel_kind<T> kind;
    static constexpr bool is_long = std::is_same<Use, matrix_a>::value != shape::swapped;
    static constexpr int tiles = is_long ? shape::long_tiles : shape::short_tiles;
    static constexpr int registers = shape::narrow ? 1 : is_long ? kind::registers : kind::registers / 2;
    static constexpr int of_tile = registers * kind::each, distinct = tiles * of_tile;
    static constexpr int num_elements = std::is_same<T, __half>::value ? 16 : distinct;
    typedef T element_type;
    typedef typename kind::stored storage_element_type;
    alignas(16) typename kind::stored x[num_elements];
    /* Along m or n, and along k. */
    static __device__ inline __attribute__((always_inline)) int outer(int i, int g) {
        const int w = i % of_tile / kind::each;
        return i / of_tile * (is_long && !shape::narrow ? 16 : 8) + g + (is_long ? 8 * (w % 2) : 0);
    }
    static __device__ inline __attribute__((always_inline)) int inner(int i, int t) {
        const int w = i % of_tile / kind::each, e = i % kind::each;
        return kind::each * t + e + 4 * kind::each * (is_long ? w / 2 : w);
    }
};

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;
template <int m, int n, int k, class T, class Layout> class fragment<matrix_a, m, n, k, T, Layout> : public cupel_side<matrix_a, m, n, k, T> {
  public:
    typedef Layout cupel_layout;
};
template <int m, int n, int k, class T, class Layout> class fragment<matrix_b, m, n, k, T, Layout> : public cupel_side<matrix_b, m, n, k, T> {
  public:
    typedef Layout cupel_layout;
};
template <int m, int n, int k, class T> class fragment<accumulator, m, n, k, T, void> {
  public:
    static constexpr bool narrow = std::is_same<T, double>::value, swapped = !narrow && m == 8;
    static constexpr int num_elements = m * n / 32, short_tiles = narrow ? 1 : (swapped ? m : n) / 8;
    typedef T element_type;
    typedef T storage_element_type;
    alignas(16) T x[num_elements];
    static __device__ inline __attribute__((always_inline)) void place(int i, int *row, int *column) {
        const int tile = i / 4, e = i % 4;
        const int along = tile / short_tiles * 16 + cupel_group() + 8 * (e / 2), across = tile % short_tiles * 8 + 2 * cupel_place() + e % 2;
        *row = swapped ? across : along, *column = swapped ? along : across;
    }
};

template <class Fragment, class V> CUPEL_INLINE void fill_fragment(Fragment &f, const V &value) {
    for (int i = 0; i < Fragment::num_elements; i++) f.x[i] = (typename Fragment::storage_element_type)value;
}

template <class Use, int m, int n, int k, class T, class Layout, class P>
CUPEL_INLINE void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &f, const P *p, unsigned ldm) {
    typedef fragment<Use, m, n, k, T, Layout> F;
    constexpr bool by_outer = std::is_same<Use, matrix_a>::value == std::is_same<Layout, row_major>::value;
    __syncwarp();
    for (int i = 0; i < F::distinct; i++) {
        const int outer = F::outer(i, cupel_group()), inner = F::inner(i, cupel_place());
        f.x[i] = p[by_outer ? (size_t)outer * ldm + inner : (size_t)inner * ldm + outer];
    }
    for (int i = F::distinct; i < F::num_elements; i++) f.x[i] = f.x[i % F::distinct];
}
template <int m, int n, int k, class T>
CUPEL_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned ldm, layout_t layout) {
    __syncwarp();
    for (int i = 0; i < f.num_elements; i++) {
        int row, column;
        f.place(i, &row, &column);
        f.x[i] = p[layout == mem_row_major ? (size_t)row * ldm + column : (size_t)column * ldm + row];
    }
}
template <int m, int n, int k, class T>
CUPEL_INLINE void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f, unsigned ldm, layout_t layout) {
    __syncwarp();
    for (int i = 0; i < f.num_elements; i++) {
        int row, column;
        f.place(i, &row, &column);
        p[layout == mem_row_major ? (size_t)row * ldm + column : (size_t)column * ldm + row] = f.x[i];
    }
    __syncwarp();
}

template <bool Saturates, int m, int n, int k, class TD, class TA, class TC, class LA, class LB>
CUPEL_INLINE void cupel_mma(fragment<accumulator, m, n, k, TD> &d, const fragment<matrix_a, m, n, k, TA, LA> &a,
                            const fragment<matrix_b, m, n, k, TA, LB> &b, const fragment<accumulator, m, n, k, TC> &c) {
    typedef cupel_shape<m, n, k, TA> shape;
    typedef typename cupel_kind<TA>::tag tag;
    typedef std::conditional_t<shape::swapped, fragment<matrix_b, m, n, k, TA, LB>, fragment<matrix_a, m, n, k, TA, LA>> Long;
    typedef std::conditional_t<shape::swapped, fragment<matrix_a, m, n, k, TA, LA>, fragment<matrix_b, m, n, k, TA, LB>> Short;
    const void *along = shape::swapped ? (const void *)b.x : (const void *)a.x, *across = shape::swapped ? (const void *)a.x : (const void *)b.x;
    alignas(16) typename Long::storage_element_type l[Long::num_elements];
    alignas(16) typename Short::storage_element_type s[Short::num_elements];
    __builtin_memcpy(l, along, sizeof l);
    __builtin_memcpy(s, across, sizeof s);
    constexpr int each = shape::narrow ? 2 : 4; /* elements of a tile of the accumulator */
    for (int i = 0; i < shape::long_tiles; i++)
        for (int j = 0; j < shape::short_tiles; j++) {
            const int tile = each * (i * shape::short_tiles + j);
            alignas(16) uint32_t ra[sizeof(*l) * Long::of_tile / 4], rb[sizeof(*s) * Short::of_tile / 4];
            alignas(16) uint32_t rc[sizeof(TC) * each / 4], rd[sizeof(TD) * each / 4];
            __builtin_memcpy(ra, l + i * Long::of_tile, sizeof ra);
            __builtin_memcpy(rb, s + j * Short::of_tile, sizeof rb);
            __builtin_memcpy(rc, c.x + tile, sizeof rc);
            cupel_ptx_product_tile<tag, tag, TD, TC, std::conditional_t<Saturates, cupel_ptx_satfinite, cupel_ptx_none>>(rd, ra, rb, rc);
            __builtin_memcpy((void *)(d.x + tile), rd, sizeof rd);
        }
}
template <int m, int n, int k, class TD, class TA, class TC, class LA, class LB>
CUPEL_INLINE void mma_sync(fragment<accumulator, m, n, k, TD> &d, const fragment<matrix_a, m, n, k, TA, LA> &a,
                           const fragment<matrix_b, m, n, k, TA, LB> &b, const fragment<accumulator, m, n, k, TC> &c, bool saturates = false) {
    if (saturates) cupel_mma<true>(d, a, b, c);
    else cupel_mma<false>(d, a, b, c);
}

/* To nearest, ties away from zero, as cvt.rna.tf32.f32. */
CUPEL_INLINE float __float_to_tf32(float f) {
    uint32_t bits;
    cupel_ptx_cvt_tf32<cupel_ptx_rna, cupel_ptx_none>(bits, f);
    return cupel_bits<float>(bits);
}

} // namespace wmma
} // namespace nvcuda

#endif
