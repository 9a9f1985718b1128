/* Integer intrinsics that take a word as two halves or four bytes (__vadd2, __vcmpgtu4, ..), and those that chain an addition, a
 * minimum and a maximum (__viaddmax_s32, ..). */
#ifndef CUPEL_SIMD_H
#define CUPEL_SIMD_H

/* a and b: a lane of either word, of type T, as int. The result's low bits are the lane's. */
#define CUPEL_LANES(name, T, expression)                                                                     \
    CUPEL_BOTH unsigned int name(unsigned int a_, unsigned int b_) {                                         \
        const int width = 8 * sizeof(T);                                                                     \
        const unsigned int ones = sizeof(T) == 1 ? 0xffu : 0xffffu;                                          \
        unsigned int result = 0;                                                                             \
        for (int i = 0; i < 32; i += width) {                                                                \
            const int a = (T)(a_ >> i), b = (T)(b_ >> i);                                                    \
            (void)a, (void)b;                                                                                \
            result |= ((unsigned int)(expression)&ones) << i;                                                \
        }                                                                                                    \
        return result;                                                                                       \
    }
#define CUPEL_LANES_ONE(name, T, expression)                                                                 \
    CUPEL_LANES(cupel_lanes##name, T, expression)                                                            \
    CUPEL_BOTH unsigned int name(unsigned int a) { return cupel_lanes##name(a, 0); }
#define CUPEL_LANES_SUM(name, T, expression)                                                                 \
    CUPEL_BOTH unsigned int name(unsigned int a_, unsigned int b_) {                                         \
        unsigned int result = 0;                                                                             \
        for (int i = 0; i < 32; i += 8 * sizeof(T)) {                                                        \
            const int a = (T)(a_ >> i), b = (T)(b_ >> i);                                                    \
            result += (unsigned int)(expression);                                                            \
        }                                                                                                    \
        return result;                                                                                       \
    }
/* Clamped to the lane's type. */
template <class T> CUPEL_BOTH int cupel_lane_clamp(int v) {
    const int low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return v < low ? low : v > high ? high : v;
}

#define CUPEL_LANES_COMPARE(n, name, T, operation)                                                           \
    CUPEL_LANES(__vcmp##name##n, T, a operation b ? ~0 : 0)                                                  \
    CUPEL_LANES(__vset##name##n, T, a operation b)

#define CUPEL_LANES_ALL(n, S, U)                                                                             \
    CUPEL_LANES_ONE(__vabs##n, S, a < 0 ? -a : a)                                                            \
    CUPEL_LANES_ONE(__vabsss##n, S, cupel_lane_clamp<S>(a < 0 ? -a : a))                                     \
    CUPEL_LANES_ONE(__vneg##n, S, -a)                                                                        \
    CUPEL_LANES_ONE(__vnegss##n, S, cupel_lane_clamp<S>(-a))                                                 \
    CUPEL_LANES(__vabsdiffs##n, S, a > b ? a - b : b - a)                                                    \
    CUPEL_LANES(__vabsdiffu##n, U, a > b ? a - b : b - a)                                                    \
    CUPEL_LANES_SUM(__vsads##n, S, a > b ? a - b : b - a)                                                    \
    CUPEL_LANES_SUM(__vsadu##n, U, a > b ? a - b : b - a)                                                    \
    CUPEL_LANES(__vadd##n, U, a + b)                                                                         \
    CUPEL_LANES(__vaddss##n, S, cupel_lane_clamp<S>(a + b))                                                  \
    CUPEL_LANES(__vaddus##n, U, cupel_lane_clamp<U>(a + b))                                                  \
    CUPEL_LANES(__vsub##n, U, a - b)                                                                         \
    CUPEL_LANES(__vsubss##n, S, cupel_lane_clamp<S>(a - b))                                                  \
    CUPEL_LANES(__vsubus##n, U, cupel_lane_clamp<U>(a - b))                                                  \
    CUPEL_LANES(__vavgs##n, S, (a + b + (a + b >= 0)) >> 1)                                                  \
    CUPEL_LANES(__vavgu##n, U, (a + b + 1) >> 1)                                                             \
    CUPEL_LANES(__vhaddu##n, U, (a + b) >> 1)                                                                \
    CUPEL_LANES(__vmaxs##n, S, a > b ? a : b)                                                                \
    CUPEL_LANES(__vmaxu##n, U, a > b ? a : b)                                                                \
    CUPEL_LANES(__vmins##n, S, a < b ? a : b)                                                                \
    CUPEL_LANES(__vminu##n, U, a < b ? a : b)                                                                \
    CUPEL_LANES_COMPARE(n, eq, U, ==)                                                                        \
    CUPEL_LANES_COMPARE(n, ne, U, !=)                                                                        \
    CUPEL_LANES_COMPARE(n, ges, S, >=)                                                                       \
    CUPEL_LANES_COMPARE(n, geu, U, >=)                                                                       \
    CUPEL_LANES_COMPARE(n, gts, S, >)                                                                        \
    CUPEL_LANES_COMPARE(n, gtu, U, >)                                                                        \
    CUPEL_LANES_COMPARE(n, les, S, <=)                                                                       \
    CUPEL_LANES_COMPARE(n, leu, U, <=)                                                                       \
    CUPEL_LANES_COMPARE(n, lts, S, <)                                                                        \
    CUPEL_LANES_COMPARE(n, ltu, U, <)
CUPEL_LANES_ALL(2, short, unsigned short)
CUPEL_LANES_ALL(4, signed char, unsigned char)

/* The dynamic-programming instructions: an addition wraps, then a minimum or maximum of the rest, then (relu) of 0. */
#define CUPEL_CHAIN(T, name)                                                                                 \
    CUPEL_BOTH T __viaddmax_##name(T a, T b, T c) { return max((T)((unsigned)a + (unsigned)b), c); }         \
    CUPEL_BOTH T __viaddmin_##name(T a, T b, T c) { return min((T)((unsigned)a + (unsigned)b), c); }         \
    CUPEL_BOTH T __vimax3_##name(T a, T b, T c) { return max(max(a, b), c); }                                \
    CUPEL_BOTH T __vimin3_##name(T a, T b, T c) { return min(min(a, b), c); }
CUPEL_CHAIN(int, s32)
CUPEL_CHAIN(unsigned int, u32)
CUPEL_BOTH int __viaddmax_s32_relu(int a, int b, int c) { return max(__viaddmax_s32(a, b, c), 0); }
CUPEL_BOTH int __viaddmin_s32_relu(int a, int b, int c) { return max(__viaddmin_s32(a, b, c), 0); }
CUPEL_BOTH int __vimax3_s32_relu(int a, int b, int c) { return max(__vimax3_s32(a, b, c), 0); }
CUPEL_BOTH int __vimin3_s32_relu(int a, int b, int c) { return max(__vimin3_s32(a, b, c), 0); }
CUPEL_BOTH int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
CUPEL_BOTH int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
#define CUPEL_CHAIN_PAIR(T, name)                                                                            \
    CUPEL_LANES(cupel_pair_add_##name, T, a + b)                                                             \
    CUPEL_LANES(cupel_pair_max_##name, T, a > b ? a : b)                                                     \
    CUPEL_LANES(cupel_pair_min_##name, T, a < b ? a : b)                                                     \
    CUPEL_BOTH unsigned int __viaddmax_##name(unsigned int a, unsigned int b, unsigned int c) {              \
        return cupel_pair_max_##name(cupel_pair_add_##name(a, b), c);                                        \
    }                                                                                                        \
    CUPEL_BOTH unsigned int __viaddmin_##name(unsigned int a, unsigned int b, unsigned int c) {              \
        return cupel_pair_min_##name(cupel_pair_add_##name(a, b), c);                                        \
    }                                                                                                        \
    CUPEL_BOTH unsigned int __vimax3_##name(unsigned int a, unsigned int b, unsigned int c) {                \
        return cupel_pair_max_##name(cupel_pair_max_##name(a, b), c);                                        \
    }                                                                                                        \
    CUPEL_BOTH unsigned int __vimin3_##name(unsigned int a, unsigned int b, unsigned int c) {                \
        return cupel_pair_min_##name(cupel_pair_min_##name(a, b), c);                                        \
    }
CUPEL_CHAIN_PAIR(short, s16x2)
CUPEL_CHAIN_PAIR(unsigned short, u16x2)
/* Which operand won, too: true where it is the first one (of equals as well). */
CUPEL_BOTH int __vibmax_s32(const int a, const int b, bool *const first) { return *first = a >= b, max(a, b); }
CUPEL_BOTH int __vibmin_s32(const int a, const int b, bool *const first) { return *first = a <= b, min(a, b); }
CUPEL_BOTH unsigned int __vibmax_u32(const unsigned int a, const unsigned int b, bool *const first) {
    return *first = a >= b, max(a, b);
}
CUPEL_BOTH unsigned int __vibmin_u32(const unsigned int a, const unsigned int b, bool *const first) {
    return *first = a <= b, min(a, b);
}

#endif
