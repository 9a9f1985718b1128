/* cupel: 1
id: file-c-program
about: A program in the manner of C, with structures of pointers, goto, printf, a parser of options, functions in any order, a kernel with a helper declared later.
dims:    {M: 1..128, N: 1..128}
let:     {TILE: 32, ROWS: 8}
inputs:  {in: "f32[M, N]"}
outputs: {out: "f32[N, M]"}
ensures: {out: "transpose(in)"}
kernel:
  entry: transpose_tiled
  args:  [in, out, N, M]
  grid:  ["ceil_div(N, TILE)", "ceil_div(M, TILE)"]
  block: [TILE, ROWS]
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>
#include <math.h>
#include <sys/time.h>
#include <unistd.h>
#include <errno.h>
#include <omp.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <cuda_runtime.h>

#define TILE_DIM 32
#define BLOCK_ROWS 8
#define NUM_REPS 100
#ifdef _WIN32
#include <windows.h>
#define sleep(n) Sleep(n)
#endif

typedef struct matrix_s {
    int width, height;
    float *elements;
} matrix_t;

static double wall(void) {
    struct timeval tv;
    gettimeofday(&tv, NULL);
    return tv.tv_sec + 1e-6 * tv.tv_usec;
}

const char *sSDKsample = "Transpose";
__device__ int tile_index(int block, int thread);
float *h_idata, *h_odata;
dim3 dimGrid(1, 1), dimBlock(TILE_DIM, BLOCK_ROWS);

__global__ void transpose_tiled(const float *idata, float *odata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = tile_index(blockIdx.x, threadIdx.x);
    int y = tile_index(blockIdx.y, threadIdx.y);
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = tile_index(blockIdx.y, threadIdx.x);
    y = tile_index(blockIdx.x, threadIdx.y);
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__device__ int tile_index(int block, int thread) { return block * TILE_DIM + thread; }

void usage(const char *name) { fprintf(stderr, "usage: %s [-w width] [-h height]\n", name); }

int main(int argc, char **argv)
{
    matrix_t m = {1024, 512, NULL};
    int i, status = EXIT_SUCCESS;
    for (i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-w") && i + 1 < argc) m.width = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-h") && i + 1 < argc) m.height = atoi(argv[++i]);
        else { usage(argv[0]); return EXIT_FAILURE; }
    }
    int devID = findCudaDevice(argc, (const char **)argv);
    cudaDeviceProp deviceProp;
    checkCudaErrors(cudaGetDeviceProperties(&deviceProp, devID));
    m.elements = (float *)malloc(sizeof(float) * m.width * m.height);
    if (!m.elements) { perror("malloc"); status = errno; goto out; }
#pragma omp parallel for
    for (i = 0; i < m.width * m.height; i++) m.elements[i] = (float)rand() / RAND_MAX;
    {
        double t = wall();
        float *d_idata, *d_odata;
        checkCudaErrors(cudaMalloc((void **)&d_idata, sizeof(float) * m.width * m.height));
        checkCudaErrors(cudaMalloc((void **)&d_odata, sizeof(float) * m.width * m.height));
        dimGrid.x = (m.width + TILE_DIM - 1) / TILE_DIM;
        for (i = 0; i < NUM_REPS; i++) transpose_tiled<<<dimGrid, dimBlock>>>(d_idata, d_odata, m.width, m.height);
        getLastCudaError("kernel");
        printf("%s: %f s\n", sSDKsample, wall() - t);
    }
out:
    free(m.elements);
    return status;
}
