/* Words as two halves or four bytes, and chained minima and maxima. */
#include "feature.cuh"

#define PAIR(i, name)                                                                                        \
    y[i] = name##2(x[0], x[1]);                                                                              \
    y[i + 1] = name##4(x[0], x[1])
#define SINGLE(i, name)                                                                                      \
    y[i] = name##2(x[0]);                                                                                    \
    y[i + 1] = name##4(x[0])

__global__ void lanes_add(const unsigned *x, unsigned *y) {
    FEATURE(18);
    PAIR(0, __vadd);
    PAIR(2, __vaddss);
    PAIR(4, __vaddus);
    PAIR(6, __vsub);
    PAIR(8, __vsubss);
    PAIR(10, __vsubus);
    PAIR(12, __vavgs);
    PAIR(14, __vavgu);
    PAIR(16, __vhaddu);
}
__global__ void lanes_difference(const unsigned *x, unsigned *y) {
    FEATURE(16);
    SINGLE(0, __vabs);
    SINGLE(2, __vabsss);
    SINGLE(4, __vneg);
    SINGLE(6, __vnegss);
    PAIR(8, __vabsdiffs);
    PAIR(10, __vabsdiffu);
    PAIR(12, __vsads);
    PAIR(14, __vsadu);
}
__global__ void lanes_extreme(const unsigned *x, unsigned *y) {
    FEATURE(8);
    PAIR(0, __vmaxs);
    PAIR(2, __vmaxu);
    PAIR(4, __vmins);
    PAIR(6, __vminu);
}
__global__ void lanes_compare(const unsigned *x, unsigned *y) {
    FEATURE(20);
    PAIR(0, __vcmpeq);
    PAIR(2, __vcmpne);
    PAIR(4, __vcmpges);
    PAIR(6, __vcmpgeu);
    PAIR(8, __vcmpgts);
    PAIR(10, __vcmpgtu);
    PAIR(12, __vcmples);
    PAIR(14, __vcmpleu);
    PAIR(16, __vcmplts);
    PAIR(18, __vcmpltu);
}
__global__ void lanes_set(const unsigned *x, unsigned *y) {
    FEATURE(20);
    PAIR(0, __vseteq);
    PAIR(2, __vsetne);
    PAIR(4, __vsetges);
    PAIR(6, __vsetgeu);
    PAIR(8, __vsetgts);
    PAIR(10, __vsetgtu);
    PAIR(12, __vsetles);
    PAIR(14, __vsetleu);
    PAIR(16, __vsetlts);
    PAIR(18, __vsetltu);
}
__global__ void chained_extremes(const unsigned *x, unsigned *y) {
    FEATURE(18);
    int a = (int)x[0], b = (int)x[1], c = (int)x[2];
    bool first, second;
    y[0] = (unsigned)__viaddmax_s32(a, b, c), y[1] = (unsigned)__viaddmin_s32(a, b, c);
    y[2] = __viaddmax_u32(x[0], x[1], x[2]), y[3] = __viaddmin_u32(x[0], x[1], x[2]);
    y[4] = (unsigned)__vimax3_s32(a, b, c), y[5] = (unsigned)__vimin3_s32(a, b, c);
    y[6] = __vimax3_u32(x[0], x[1], x[2]), y[7] = __vimin3_u32(x[0], x[1], x[2]);
    y[8] = (unsigned)__viaddmax_s32_relu(a, b, c), y[9] = (unsigned)__vimax_s32_relu(a, b);
    y[10] = __viaddmax_s16x2(x[0], x[1], x[2]), y[11] = __viaddmin_u16x2(x[0], x[1], x[2]);
    y[12] = __vimax3_s16x2(x[0], x[1], x[2]), y[13] = __vimin3_u16x2(x[0], x[1], x[2]);
    y[14] = (unsigned)__vibmax_s32(a, b, &first), y[15] = first;
    y[16] = __vibmin_u32(x[0], x[1], &second), y[17] = second;
}
