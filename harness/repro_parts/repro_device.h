/* Part of a reproduction file (repro.h): a kernel on a device. */
#include <cuda_runtime.h>
#include <time.h>

static repro_state repro;

static void repro_expect(cudaError_t code, const char *what) {
    if (code != cudaSuccess) repro_stop(REPRO_CANNOT, what, cudaGetErrorString(code));
}

/* A kernel's argument: an address or a number, turned into whatever the parameter is. */
struct repro_pointer {
    void *at;
};

template <class P> struct repro_argument {
    static P from(double value) { return static_cast<P>(value); }
    static P from(long long value) { return static_cast<P>(value); }
    static P from(unsigned long long value) { return static_cast<P>(value); }
};

template <class P> struct repro_argument<P *> {
    static P *from(repro_pointer pointer) { return (P *)pointer.at; }
};

/* The data pointer of a tensor. */
static repro_pointer repro_at(int tensor) {
    const repro_tensor *t = &repro.c->tensors[tensor];
    return repro_pointer{(unsigned char *)repro.address[t->buffer] + t->offset};
}

/* Waits for the device, but not for ever. */
static void repro_finish(const char *name) {
    time_t start = time(NULL);
    cudaError_t code;
    while ((code = cudaStreamQuery(0)) == cudaErrorNotReady)
        if (time(NULL) - start > 10) repro_stop(REPRO_SHOWS, "the launch has not ended after 10 s", name);
    if (code != cudaSuccess) repro_stop(REPRO_SHOWS, name, cudaGetErrorString(code));
}

static bool repro_dims(const long long dims[3], dim3 *out) {
    *out = dim3((unsigned)dims[0], (unsigned)dims[1], (unsigned)dims[2]);
    return dims[0] == out->x && dims[1] == out->y && dims[2] == out->z;
}

static void repro_prepare(const char *name, const void *kernel, const long long (&grid)[3],
                          const long long (&block)[3], long long shared, dim3 *blocks, dim3 *threads) {
    if (!repro_dims(grid, blocks) || !repro_dims(block, threads) || shared < 0)
        repro_stop(REPRO_SHOWS, name, "no device takes a launch of this size");
    if (shared > 48 * 1024) {
        cudaError_t code =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (code != cudaSuccess)
            repro_stop(REPRO_SHOWS, "shared memory is refused", cudaGetErrorString(code));
    }
}

static void repro_launched(const char *name) {
    cudaError_t code = cudaGetLastError();
    if (code != cudaSuccess) repro_stop(REPRO_SHOWS, "the launch is refused", cudaGetErrorString(code));
    repro_finish(name);
}

template <class... P, class... A>
static void repro_launch(const char *name, void (*kernel)(P...), const long long (&grid)[3],
                         const long long (&block)[3], long long shared, A... arguments) {
    dim3 blocks, threads;
    repro_prepare(name, (const void *)kernel, grid, block, shared, &blocks, &threads);
    kernel<<<blocks, threads, (size_t)shared>>>(repro_argument<P>::from(arguments)...);
    repro_launched(name);
}

/* A cooperative launch: all blocks together, which may synchronise the grid. */
template <class... P>
static void repro_together(const char *name, const void *kernel, dim3 blocks, dim3 threads, size_t shared,
                           P... values) {
    void *pointers[] = {(void *)&values..., nullptr};
    (void)cudaLaunchCooperativeKernel(kernel, blocks, threads, pointers, shared, 0);
    repro_launched(name);
}

template <class... P, class... A>
static void repro_launch_together(const char *name, void (*kernel)(P...), const long long (&grid)[3],
                                  const long long (&block)[3], long long shared, A... arguments) {
    dim3 blocks, threads;
    repro_prepare(name, (const void *)kernel, grid, block, shared, &blocks, &threads);
    repro_together<P...>(name, (const void *)kernel, blocks, threads, (size_t)shared,
                         repro_argument<P>::from(arguments)...);
}

/* What cudaMalloc gives is aligned to 256 bytes. */
static void *repro_place(const repro_state *s, int b, void **memory) {
    const repro_buffer *buffer = &s->c->buffers[b];
    size_t align = buffer->align > 1 ? buffer->align : 1, room = align > 256 ? align : 0;
    size_t front = (s->guard + align - 1) / align * align + buffer->misalign;
    size_t size = front + buffer->size + s->guard + room;
    repro_expect(cudaMalloc(memory, size ? size : 1), "cudaMalloc");
    return (void *)(((uintptr_t)*memory + (room ? room - 1 : 0)) / align * align + front);
}

static void repro_release(void *memory) {
    cudaFree(memory);
}

static void repro_copy(repro_state *s, int b, bool to_device) {
    unsigned char *device = (unsigned char *)s->address[b] - s->guard;
    if (to_device)
        repro_expect(cudaMemcpy(device, s->image[b], repro_whole(s, b), cudaMemcpyHostToDevice),
                     "cudaMemcpy");
    else
        repro_expect(cudaMemcpy(s->after[b], device, repro_whole(s, b), cudaMemcpyDeviceToHost),
                     "cudaMemcpy");
}

static void repro_open(const repro_case *c, int argc, char **argv) {
    int devices = 0;
    repro.c = c;
    repro.guard = argc > 1 && strcmp(argv[1], "bare") == 0 ? 0 : REPRO_GUARD;
    repro_expect(cudaGetDeviceCount(&devices), "no device");
    cudaDeviceProp properties;
    repro_expect(cudaGetDeviceProperties(&properties, 0), "no device");
    printf("device: %s\n", properties.name);
    repro_allocate(&repro, repro_place);
}

static int repro_run(const repro_case *c, void (*call)(void), int argc, char **argv) {
    int round = 0;
    repro_open(c, argc, argv);
    while (round < c->rounds && (!repro.failures || (c->unwritten && round < 2))) {
        for (int k = 0; k < c->call_count; k++) {
            repro_fill(&repro, &c->calls[k], round % 2);
            repro.address = repro.places[c->calls[k].elsewhere];
            for (int b = 0; b < c->buffer_count; b++) repro_copy(&repro, b, true);
            call();
        }
        for (int b = 0; b < c->buffer_count; b++) repro_copy(&repro, b, false);
        repro_check(&repro, round++);
    }
    repro_free(&repro, repro_release);
    return repro_verdict(&repro, round);
}
