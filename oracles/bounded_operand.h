/* The operands of matrix products: where their elements are, and how they are packed for the tiles. Private
 * to the files bounded*.c.
 *
 * An operand may be a view that nothing but products reads, or a reshaped one (the windows of a convolution):
 * such a node is never written out. Its tensor borrows the arrays of the view's argument, and the operand
 * finds its elements there. */
#ifndef CUPEL_BOUNDED_OPERAND_H
#define CUPEL_BOUNDED_OPERAND_H

#include "bounded.h"

/* A left operand's outer index is its row and the inner one its column; a right one's, the other way round.
 */
typedef struct cupel_operand {
    const cupel_tensor *t;
    int64_t outer_count, inner_count;
    int64_t *outer, *inner; /* offsets of each index */
    int64_t base;           /* offset of the current batch */
    int batch_rank;
    int64_t batch_shape[CUPEL_RANK_MAX], batch_stride[CUPEL_RANK_MAX], offset;
    double hidden; /* relative roundings of a chain whose result happened to be exact */
} cupel_operand;

/* Could the operand (0: left, 1: right) of a product be read where the argument of its views lies? */
bool cupel_operand_is_readable(const cupel_graph *graph, int product, int which);

/* The tables, from malloc; close accepts an operand of zeros. */
CUPEL_MUST_USE cupel_code cupel_operand_open(cupel_bounded *b, int product, int which, cupel_operand *o);
void cupel_operand_close(cupel_operand *o);

void cupel_operand_seek(cupel_operand *o, int64_t batch);

static inline int64_t cupel_operand_at(const cupel_operand *o, int64_t outer, int64_t inner) {
    return o->base + o->outer[outer] + o->inner[inner];
}

/* Packs `width` outer indices from `outer` on (zeros beyond the last) and `terms` inner ones from `inner` on:
 * values, sizes and, where moves, what each element may be moved by; see bounded_tile.h. */
void cupel_operand_pack(const cupel_operand *o, int64_t outer, int width, int64_t inner, int64_t terms,
                        bool moves, double *to);

/* Packs powers of two that the elements are multiples of (infinity beyond the last, and for 0). */
void cupel_operand_pack_grains(const cupel_operand *o, int64_t outer, int width, int64_t inner, int64_t terms,
                               double *to);

/* Has an outer index elements that are not plain, and one among them that is NaN for every kernel? */
enum { CUPEL_NOT_ODD, CUPEL_ODD, CUPEL_ODD_NAN };

/* What holds of all elements of each outer index of this batch; arrays that are NULL are not filled in. */
void cupel_operand_survey(const cupel_operand *o, double *grain, double *size, uint8_t *odd);

#endif
