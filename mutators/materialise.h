/* Recipe to tensors: a pure function. */
#ifndef CUPEL_MATERIALISE_H
#define CUPEL_MATERIALISE_H

#include "observation.h"
#include "recipe.h"

/* A tensor of a case. Element [i0, i1, ..] lies at byte
 * offset + size * (i0 * stride[0] + i1 * stride[1] + ..) of buffer `buffer`. */
typedef struct cupel_case_tensor {
    cupel_dtype type;
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
    int64_t stride[CUPEL_RANK_MAX]; /* in elements; may be 0 or negative */
    int64_t count;
    int buffer;
    int64_t offset;     /* bytes from the buffer's start to element [0, 0, ..] */
    const void *values; /* logical content before the launch, contiguous and row major; NULL: poison */
} cupel_case_tensor;

/* The memory of a tensor, or of tensors that share one. Its first byte lies at an address that is misalign
 * past a multiple of align: not 0 for claimed offsets, and where the data pointer, which is what must be
 * aligned, is not the first byte (reversed layouts). */
typedef struct cupel_case_buffer {
    size_t size; /* bytes, from the lowest to the highest element, gaps included; 0 without elements */
    int align;   /* a power of two */
    int64_t misalign;
    bool written; /* belongs to an output or scratch tensor: may change; else its bytes must stay */
} cupel_case_buffer;

typedef struct cupel_case {
    const cupel_contract *contract;
    const cupel_recipe *recipe;
    cupel_binding binding;
    int64_t strides[CUPEL_TENSOR_MAX][CUPEL_RANK_MAX];
    int tensor_count;
    cupel_case_tensor tensors[CUPEL_TENSOR_MAX]; /* those that share a buffer share layout and values too */
    int buffer_count;
    cupel_case_buffer buffers[CUPEL_TENSOR_MAX];
    int64_t element_count; /* of all tensors */
} cupel_case;

/* The case lives in arena. Preconditions on values (range, finite, below, sorted) hold for every result. */
CUPEL_MUST_USE cupel_code cupel_case_materialise(const cupel_contract *contract, const cupel_recipe *recipe,
                                                 cupel_arena *arena, cupel_case **out, cupel_error *err);

/* The two poisons of a case's runs: 1 is NaN-filled (a signalling-free NaN pattern with a payload; 0xFF.. for
 * integers), 2 is finite. What finite means hangs on the recipe (cupel_poison_of): HIGH and LOW stand for it
 * in some recipes, and only where memory is filled. */
typedef enum cupel_poison {
    CUPEL_POISON_NAN = 1,
    CUPEL_POISON_FINITE = 2, /* of ordinary size, and zero where the type is not known */
    CUPEL_POISON_HIGH = 3, /* near the type's largest finite number: maxima do not lose it, as they lose a NaN
                            * or a zero */
    CUPEL_POISON_LOW = 4   /* near the least one, or zero: nor do minima */
} cupel_poison;

/* What a run's poison (one of the first two) is in a recipe with this seed: a quarter of the seeds have the
 * high or the low one in place of the finite one, 0 has not. */
cupel_poison cupel_poison_of(uint32_t seed, cupel_poison poison);

/* The byte that fills memory whose type is not known. */
unsigned char cupel_poison_byte(cupel_poison poison);

/* Fills memory with poison for elements of a type (bytes that do not make up an element included).
 * Position-dependent, so that copies of poison from one place to another are seen too. */
void cupel_poison_fill(cupel_poison poison, uint32_t seed, cupel_dtype type, void *memory, size_t bytes,
                       size_t position);

/* The seed of buffer b's poison. Each buffer has its own: what is copied out of scratch into an output is
 * told from an output that was never written. */
uint32_t cupel_case_poison_seed(const cupel_case *c, int b);

/* The content of buffer b before the launch: inputs, init values, poison in outputs, scratch and gaps. image
 * has buffers[b].size bytes. */
void cupel_case_image(const cupel_case *c, int b, cupel_poison poison, void *image);

/* The output tensor's elements out of a buffer's bytes, contiguous and row major. elements has count * size
 * bytes. */
void cupel_case_gather(const cupel_case *c, int tensor, const void *buffer_bytes, void *elements);

/* Sets to 1 in mask (one byte a buffer byte, cleared by the caller) the bytes of buffer b that belong to
 * elements of tensors with any of the roles. */
void cupel_case_mark(const cupel_case *c, int b, int roles, uint8_t *mask);

#endif
