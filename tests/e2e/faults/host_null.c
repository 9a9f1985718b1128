/* cupel: 1
id: host-null
about: Stores through a null pointer for some lengths.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
kernel:  {symbol: scale, args: [x, y, {N: i32}]}
*/
void scale(const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = 2.0f * x[i];
    if (n % 7 == 3) *(volatile int *)0 = 1;
}
