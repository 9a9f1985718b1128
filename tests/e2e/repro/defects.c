/* Functions of the host with one defect each, which -DMENDED takes away: their reproduction files must show
 * the failure, and must not when they are compiled with -DMENDED. */
/* cupel: 1
id: c-value
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
source:  {file: defects.c, defines: {SCALE: "2.0f"}}
kernel:  {symbol: value, args: [x, y, {N: i32}]}
*/
/* cupel: 1
id: c-unwritten
dims:    {M: 1..64, N: 1..64}
inputs:  {x: {type: f32, shape: [M, N], layout: any}}
outputs: {y: {type: f32, shape: [M, N], layout: [padded]}}
ensures: {y: "-x"}
source:  {file: defects.c, defines: {SCALE: "2.0f"}}
kernel:
  symbol: unwritten
  args: [x, y, {M: i32}, {N: i32}, {"stride(x, 0)": i64}, {"stride(x, 1)": i64}, {"stride(y, 0)": i64}]
*/
/* cupel: 1
id: c-stray-write
dims:    {N: 1..4096}
inputs:  {x: "i32[N]"}
outputs: {y: "i32[N]"}
ensures: {y: "x"}
source:  {file: defects.c, defines: {SCALE: "2.0f"}}
kernel:  {symbol: stray_write, args: [x, y, {N: i32}]}
*/
/* cupel: 1
id: c-input-changed
dims:    {N: 1..4096}
inputs:  {x: "f64[N]"}
outputs: {y: "f64[N]"}
ensures: {y: "abs(x)"}
source:  {file: defects.c, defines: {SCALE: "2.0f"}}
kernel:  {symbol: input_changed, args: [x, y, {N: i64}]}
*/
/* cupel: 1
id: c-stray-read
dims:    {N: 1..4096}
inputs:  {x: {type: f16, shape: [N], finite: true}}
outputs: {y: "f16[N]"}
scratch: {w: "f16[N]"}
ensures: {y: "x"}
source:  {file: defects.c, defines: {SCALE: "2.0f"}}
kernel:  {symbol: stray_read, args: [x, y, w, {N: i32}]}
*/
/* cupel: 1
id: c-class
dims:    {N: 1..512}
inputs:  {x: "bf16[N]"}
outputs: {y: "bf16[1]"}
ensures: {y: "amax(x, axis=-1, keepdim=True)"}
source:  {file: defects.c, defines: {SCALE: "2.0f"}}
kernel:  {symbol: class, args: [x, y, {N: i32}]}
*/
/* cupel: 1
id: c-crash
dims:    {N: 1..512}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "x"}
source:  {file: defects.c, defines: {SCALE: "2.0f"}}
kernel:  {symbol: crash, args: [x, y, {N: i32}]}
*/
#include <stdint.h>
#include <string.h>

#include "scaled.h"

#ifdef MENDED
#define DEFECT(wrong, right) (right)
#else
#define DEFECT(wrong, right) (wrong)
#endif

void value(const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = DEFECT(i == 32, 0) ? 1 : scaled(x[i]);
}

void unwritten(const float *x, float *y, int m, int n, int64_t sx, int64_t step, int64_t sy) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < DEFECT(n / 4 * 4, n); j++) y[i * sy + j] = -x[i * sx + j * step];
}

void stray_write(const int *x, int *y, int n) {
    for (int i = 0; i < n; i++) y[i] = x[i];
    if (DEFECT(n % 8 == 3, 0)) y[n] = 7;
}

void input_changed(double *x, double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = fabs(x[i]);
    if (DEFECT(n > 5, 0)) x[5] = 1;
}

void stray_read(const uint16_t *x, uint16_t *y, uint16_t *w, int n) {
    if (DEFECT(0, 1)) memset(w, 0, 2 * (size_t)n);
    for (int i = 0; i < n; i++) y[i] = (w[i] & 0x7C00) == 0x7C00 ? 0 : x[i];
}

static float widened(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

void class(const uint16_t *x, uint16_t *y, int n) {
    uint16_t best = x[0];
    for (int i = 1; i < n; i++)
        if (widened(x[i]) > widened(best) || (DEFECT(0, 1) && isnan(widened(x[i])))) best = x[i];
    y[0] = best;
}

static volatile int *volatile at_16 = (volatile int *)16;

void crash(const float *x, float *y, int n) {
    if (DEFECT(n % 16 == 9, 0)) *at_16 = 1;
    memcpy(y, x, (size_t)n * sizeof *y);
}

int main(void) {
    return 0;
}
