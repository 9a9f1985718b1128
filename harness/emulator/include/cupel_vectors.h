/* CUDA's vector types. Those whose alignment exceeds their elements' are copied by one access of that width, as a device
 * does, so that the checker sees one access and its alignment; the others are plain structures. */
#ifndef CUPEL_VECTORS_H
#define CUPEL_VECTORS_H

typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

#define CUPEL_VECTOR1(name, T)                                                                               \
    struct name##1 {                                                                                         \
        T x;                                                                                                 \
    };                                                                                                       \
    CUPEL_BOTH name##1 make_##name##1(T x) { return name##1{x}; }

#define CUPEL_VECTOR3(name, T)                                                                               \
    struct name##3 {                                                                                         \
        T x, y, z;                                                                                           \
    };                                                                                                       \
    CUPEL_BOTH name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }

/* W: a clang vector or integer type as wide as the structure; N of them. Copies read all, then write all. */
#define CUPEL_WIDE_COPY(type, W, N)                                                                          \
    __host__ __device__ inline __attribute__((always_inline)) void cupel_copy(const W *from) {               \
        if (N == 1) {                                                                                        \
            cupel_wide[0] = from[0];                                                                         \
        } else {                                                                                             \
            W low = from[0], high = from[N - 1];                                                             \
            cupel_wide[0] = low;                                                                             \
            cupel_wide[N - 1] = high;                                                                        \
        }                                                                                                    \
    }                                                                                                        \
    __host__ __device__ inline __attribute__((always_inline)) type(const type &other) {                      \
        cupel_copy(other.cupel_wide);                                                                        \
    }                                                                                                        \
    __host__ __device__ inline __attribute__((always_inline)) type &operator=(const type &other) {           \
        cupel_copy(other.cupel_wide);                                                                        \
        return *this;                                                                                        \
    }                                                                                                        \
    /* what a volatile object (in shared memory, say) is read and written by */                              \
    __host__ __device__ inline __attribute__((always_inline)) type(const volatile type &other) {             \
        for (int i = 0; i < N; i++) cupel_wide[i] = other.cupel_wide[i];                                     \
    }                                                                                                        \
    __host__ __device__ inline __attribute__((always_inline)) void operator=(const type &other) volatile {   \
        for (int i = 0; i < N; i++) cupel_wide[i] = other.cupel_wide[i];                                     \
    }

#define CUPEL_VECTOR2(name, T, alignment, W, N)                                                              \
    struct __attribute__((aligned(alignment))) name##2 {                                                     \
        union {                                                                                              \
            struct {                                                                                         \
                T x, y;                                                                                      \
            };                                                                                               \
            W cupel_wide[N];                                                                                 \
        };                                                                                                   \
        name##2() = default;                                                                                 \
        __host__ __device__ constexpr name##2(T x_, T y_ = 0) : x(x_), y(y_) {}                            \
        CUPEL_WIDE_COPY(name##2, W, N)                                                                       \
    };                                                                                                       \
    CUPEL_BOTH name##2 make_##name##2(T x, T y) { return name##2(x, y); }

#define CUPEL_VECTOR4(name, T, alignment, W, N)                                                              \
    struct __attribute__((aligned(alignment))) name##4 {                                                     \
        union {                                                                                              \
            struct {                                                                                         \
                T x, y, z, w;                                                                                \
            };                                                                                               \
            W cupel_wide[N];                                                                                 \
        };                                                                                                   \
        name##4() = default;                                                                                 \
        __host__ __device__ constexpr name##4(T x_, T y_ = 0, T z_ = 0, T w_ = 0)                      \
            : x(x_), y(y_), z(z_), w(w_) {}                                                                  \
        CUPEL_WIDE_COPY(name##4, W, N)                                                                       \
    };                                                                                                       \
    CUPEL_BOTH name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }

typedef uint32_t cupel_u32x2 __attribute__((ext_vector_type(2)));
typedef uint32_t cupel_u32x4 __attribute__((ext_vector_type(4)));
typedef float cupel_f32x2 __attribute__((ext_vector_type(2)));
typedef float cupel_f32x4 __attribute__((ext_vector_type(4)));
typedef double cupel_f64x2 __attribute__((ext_vector_type(2)));
typedef uint64_t cupel_u64x2 __attribute__((ext_vector_type(2)));

#define CUPEL_VECTORS(name, T, two, W2, four, W4, N4)                                                        \
    CUPEL_VECTOR1(name, T)                                                                                   \
    CUPEL_VECTOR2(name, T, two, W2, 1)                                                                       \
    CUPEL_VECTOR3(name, T)                                                                                   \
    CUPEL_VECTOR4(name, T, four, W4, N4)

CUPEL_VECTORS(char, signed char, 2, uint16_t, 4, uint32_t, 1)
CUPEL_VECTORS(uchar, unsigned char, 2, uint16_t, 4, uint32_t, 1)
CUPEL_VECTORS(short, short, 4, uint32_t, 8, cupel_u32x2, 1)
CUPEL_VECTORS(ushort, unsigned short, 4, uint32_t, 8, cupel_u32x2, 1)
CUPEL_VECTORS(int, int, 8, cupel_u32x2, 16, cupel_u32x4, 1)
CUPEL_VECTORS(uint, unsigned int, 8, cupel_u32x2, 16, cupel_u32x4, 1)
CUPEL_VECTORS(float, float, 8, cupel_f32x2, 16, cupel_f32x4, 1)
CUPEL_VECTORS(long, long, 16, cupel_u64x2, 16, cupel_u64x2, 2)
CUPEL_VECTORS(ulong, unsigned long, 16, cupel_u64x2, 16, cupel_u64x2, 2)
CUPEL_VECTORS(longlong, long long, 16, cupel_u64x2, 16, cupel_u64x2, 2)
CUPEL_VECTORS(ulonglong, unsigned long long, 16, cupel_u64x2, 16, cupel_u64x2, 2)
CUPEL_VECTORS(double, double, 16, cupel_f64x2, 16, cupel_f64x2, 2)

struct dim3 {
    unsigned int x, y, z;
    __host__ __device__ constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif
