#include <vector>
#error don't stop here
const char *a = "/* cupel: 1 */", *r = R"x(" /* cupel: 1 )x";
int digits = 1'000'000; char q = '"', e = '\'', w = L'x';
// a line comment /* cupel: 1
// continued \
   /* cupel: 1
/* cupeled copper is no contract */
/**
	 * cupel: 1
	 * id: first
	 *
	 * dims: {N: 1..10}
	 * inputs: {x: "f32[N]"}
	 * outputs: {y: "f32[N]"}
	 * ensures: {y: x}
	 * kernel: {entry: copy, args: [x, y, N], grid: [1], block: [N]}
	 */
__global__ void copy(const float *x, float *y, int N) { y[threadIdx.x] = x[threadIdx.x]; }

/*   cupel: 1
     id: second   # aligned under the first key
     dims: {}
     inputs: {x: "f32[4]"}
     outputs: {x: "f32[4]"}
     ensures: {x: -x}
     kernel: {entry: negate, args: [x], grid: [1], block: [4]} */
__global__ void negate(float *x) { x[threadIdx.x] = -x[threadIdx.x]; }
