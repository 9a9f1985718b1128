/* The loops of bounded_tile.h for one vector unit. Included by bounded_tile.c once for each, with
 *   UNIT    the name of its cupel_tiling
 *   TARGET  the attribute that compiles for it
 *   LANES   the doubles of one register
 * and no guard against that. */

#define JOIN_(name, unit) name##_##unit
#define JOIN(name, unit) JOIN_(name, unit)
#define NAME(name) JOIN(name, UNIT)

typedef double NAME(lanes) __attribute__((vector_size(LANES * sizeof(double)), may_alias));

/* LANES columns of a tile, from `first` on. The flags are constants where this is inlined, so that every
 * array becomes registers. */
TARGET INLINED void NAME(multiply_columns)(const cupel_tile *t, int first, bool moves_x, bool moves_y) {
    typedef NAME(lanes) lanes;
    enum { ROWS = CUPEL_TILE_ROWS, COLUMNS = CUPEL_TILE_COLUMNS };
    lanes value[ROWS], size[ROWS], moved[ROWS];
    for (int r = 0; r < ROWS; r++) {
        const int64_t at = r * CUPEL_TILE_STRIDE + first;
        value[r] = *(const lanes *)(t->value + at);
        size[r] = *(const lanes *)(t->size + at);
        if (moves_x || moves_y) moved[r] = *(const lanes *)(t->moved + at);
    }
    const double *x = t->x, *y = t->y + first;
    for (int64_t k = 0; k < t->terms; k++) {
        const lanes b = *(const lanes *)y, size_b = *(const lanes *)(y + COLUMNS);
        for (int r = 0; r < ROWS; r++) {
            value[r] += x[r] * b;
            size[r] += x[ROWS + r] * size_b;
            if (moves_x) moved[r] += x[2 * ROWS + r] * size_b;
            if (moves_y) moved[r] += fabs(x[r]) * *(const lanes *)(y + 2 * COLUMNS);
        }
        x += (moves_x ? 3 : 2) * ROWS;
        y += (moves_y ? 3 : 2) * COLUMNS;
    }
    for (int r = 0; r < ROWS; r++) {
        const int64_t at = r * CUPEL_TILE_STRIDE + first;
        *(lanes *)(t->value + at) = value[r];
        *(lanes *)(t->size + at) = size[r];
        if (moves_x || moves_y) *(lanes *)(t->moved + at) = moved[r];
    }
}

TARGET static void NAME(multiply)(const cupel_tile *t) {
    for (int first = 0; first < CUPEL_TILE_COLUMNS; first += LANES) {
        if (t->moves_x && t->moves_y)
            NAME(multiply_columns)(t, first, true, true);
        else if (t->moves_x)
            NAME(multiply_columns)(t, first, true, false);
        else if (t->moves_y)
            NAME(multiply_columns)(t, first, false, true);
        else
            NAME(multiply_columns)(t, first, false, false);
    }
}

TARGET static void NAME(least)(const double *x, const double *y, int64_t terms, double *least) {
    for (int r = 0; r < CUPEL_TILE_ROWS; r++) {
        double low[CUPEL_TILE_COLUMNS];
        for (int c = 0; c < CUPEL_TILE_COLUMNS; c++) low[c] = least[r * CUPEL_TILE_STRIDE + c];
        for (int64_t k = 0; k < terms; k++) {
            for (int c = 0; c < CUPEL_TILE_COLUMNS; c++) {
                const double product = x[k * CUPEL_TILE_ROWS + r] * y[k * CUPEL_TILE_COLUMNS + c];
                low[c] = product < low[c] ? product : low[c];
            }
        }
        for (int c = 0; c < CUPEL_TILE_COLUMNS; c++) least[r * CUPEL_TILE_STRIDE + c] = low[c];
    }
}

static const cupel_tiling UNIT = {NAME(multiply), NAME(least)};

#undef NAME
#undef JOIN
#undef JOIN_
#undef UNIT
#undef TARGET
#undef LANES
