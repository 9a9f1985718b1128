/* A driver without a GPU: device memory is host memory, and a kernel named scale
 * is carried out by the driver itself: y[i] = 2 * x[i]. */
#ifndef CUPEL_FAKE_CUDA_H
#define CUPEL_FAKE_CUDA_H

typedef struct fake_cuda {
    /* set by tests */
    int devices;     /* how many there are */
    int next_status; /* of the next wait behind a launch of scale; then 0 again */
    int past_end;    /* scale writes so many elements more */
    int wrong_sizes; /* the driver reports other parameters than the kernel has */
    /* seen by tests */
    int loads;          /* of modules */
    int launches;       /* of scale */
    int together;       /* those among them that were cooperative */
    int spins, dirties; /* of the helpers */
    unsigned word;      /* of the last dirtying */
    float variable[64]; /* of every module */
    void *y;            /* of the last launch */
} fake_cuda;

#endif
