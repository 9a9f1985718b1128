/* Device code that no emulator of ours runs: each kernel is refused, by name, with the line that is marked. */
#include <cub/cub.cuh>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

#include "feature.cuh"

__global__ void texture_object(cudaTextureObject_t image, unsigned *y) { // refused: textures
    FEATURE(1);
    y[0] = (unsigned)tex2D<float>(image, 0.5f, 0.5f);
}
__global__ void texture_fetch(unsigned *y, unsigned long long image) {
    y[0] = (unsigned)tex1Dfetch<float>(image, 3); // refused: textures
}
__global__ void surface_object(unsigned *y, cudaSurfaceObject_t image) { // refused: surfaces
    surf2Dwrite(1.0f, image, 0, 0);
}
__global__ void child(unsigned *y) { y[0] = 1; }
__global__ void launches(unsigned *y) {
    if (threadIdx.x == 0)
        child<<<1, 1>>>(y); // refused: launches from device code
}
__global__ void synchronizes(unsigned *y) {
    cudaDeviceSynchronize(); // refused: launches from device code
}
__global__ void allocates(unsigned *y) {
    unsigned *p = (unsigned *)malloc(8); // refused: memory allocated by device code
    y[0] = p[0];
    free(p);
}
__global__ void creates(unsigned *y) {
    unsigned *p = new unsigned[2]; // refused: memory allocated by device code
    y[0] = p[0];
    delete[] p;
}
__global__ void random_numbers(unsigned *y) {
    curandState state;
    curand_init(1, threadIdx.x, 0, &state); // refused: cuRAND
    y[0] = curand(&state);
}
__global__ void layouts(unsigned *y) {
    auto shape = cute::make_shape(2, 3); // refused: CuTe
    y[0] = cute::size(shape);
}
__global__ void numeric_types(unsigned *y) {
    cutlass::half_t h = cutlass::half_t(1.0f); // refused: CUTLASS
    y[0] = float(h);
}
__global__ void algorithms(unsigned *y) {
    thrust::sort(thrust::seq, y, y + 4); // refused: Thrust
}
__global__ void block_sort(unsigned *y) {
    typedef cub::BlockRadixSort<unsigned, 32, 1> Sort; // refused: CUB's BlockRadixSort
    __shared__ typename Sort::TempStorage room;
    unsigned keys[1] = {y[threadIdx.x]};
    Sort(room).Sort(keys);
}
__global__ void clusters(unsigned *y) {
    auto cluster = this_cluster(); // refused: thread block clusters
    cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) cluster_shape(unsigned *y) { // refused: thread block clusters
    y[0] = 1;
}
__global__ void tensor_maps(const __grid_constant__ CUtensorMap map, unsigned *y) { // refused: tensor maps
    y[0] = 1;
}
__global__ void old_shuffle(unsigned *y) {
    y[0] = __shfl_down(y[1], 1); // refused: shuffles and votes without a mask
}
__global__ void old_vote(unsigned *y) {
    y[0] = __ballot(y[1] > 0); // refused: shuffles and votes without a mask
}
__global__ void constant_address(const unsigned *x, unsigned *y) {
    y[0] = __isConstant(x); // refused: questions about constant memory
}
#define HIDDEN_BEHIND_A_MACRO(image) tex1Dfetch<float>(image, 0)
__global__ void behind_a_macro(unsigned *y, unsigned long long image) {
    y[0] = (unsigned)HIDDEN_BEHIND_A_MACRO(image); // refused: textures
}
