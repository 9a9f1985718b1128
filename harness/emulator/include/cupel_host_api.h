/* The few names of the host API that types, constants and macros outside of function bodies mention. */
#ifndef CUPEL_HOST_API_H
#define CUPEL_HOST_API_H

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1 } cudaError_t;
typedef enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
} cudaMemcpyKind;
struct cudaDeviceProp;

/* What <<<>>> is turned into by clang; declared so that a launch in a template that is never instantiated can be parsed. */
extern "C" cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" int __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
extern "C" cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);

#endif
