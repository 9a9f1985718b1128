/* The innermost loops of matrix products: tiles of four rows and eight columns, whose sums stay in registers
 * over all terms. Private to the files bounded*.c.
 *
 * Operands are packed (bounded_operand.h): for each term k first the values of a tile's rows (or columns),
 * then their sizes |value| + radius, then, where some are not 0, what each may be moved by. Reading is then
 * sequential, whatever the tensors' shapes and strides. */
#ifndef CUPEL_BOUNDED_TILE_H
#define CUPEL_BOUNDED_TILE_H

#include <stdbool.h>
#include <stdint.h>

enum { CUPEL_TILE_ROWS = 4, CUPEL_TILE_COLUMNS = 8, CUPEL_TILE_STRIDE = 128, CUPEL_TILINGS_MAX = 3 };

typedef struct cupel_tile {
    const double *x, *y; /* packed; y aligned to 64 bytes */
    int64_t terms;
    bool moves_x, moves_y; /* the operand has a third part */
    /* sums that the terms are added to, in order; rows CUPEL_TILE_STRIDE apart, aligned to 64 bytes */
    double *value, *size, *moved;
} cupel_tile;

/* The loops for one vector unit. The results are the same bits on every one. */
typedef struct cupel_tiling {
    void (*multiply)(const cupel_tile *tile);
    /* The least product of each row and column: x and y are one part each, least is lowered. */
    void (*least)(const double *x, const double *y, int64_t terms, double *least);
} cupel_tiling;

/* Those that this machine can run, the fastest first; returns their number, at least 1. */
int cupel_tilings(const cupel_tiling *tilings[CUPEL_TILINGS_MAX]);

#endif
