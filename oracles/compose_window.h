/* Sliding windows over the last one to three axes: what convolutions and pools share. Private to their
 * composers. */
#ifndef CUPEL_COMPOSE_WINDOW_H
#define CUPEL_COMPOSE_WINDOW_H

#include "compose.h"

enum { CUPEL_SPATIAL_MAX = 3 };

/* Extents by spatial axis, `axes` of them. */
typedef struct cupel_slide {
    int axes;
    int64_t size[CUPEL_SPATIAL_MAX];                                /* of the input */
    int64_t kernel[CUPEL_SPATIAL_MAX];                              /* taps of a window, */
    int64_t dilation[CUPEL_SPATIAL_MAX], stride[CUPEL_SPATIAL_MAX]; /* their distance, and that of windows */
    int64_t before[CUPEL_SPATIAL_MAX],
        after[CUPEL_SPATIAL_MAX];   /* elements added on each side; negative: cut */
    int64_t out[CUPEL_SPATIAL_MAX]; /* windows */
} cupel_slide;

/* The product of an array of `axes` extents. */
int64_t cupel_slide_count(const cupel_slide *slide, const int64_t *extents);

/* Argument i, an integer for all axes or a list of one for each; fallback (per axis) where it is left out.
 * Each at least `least`; `what` names them in messages. False after an error. */
bool cupel_slide_read(cupel_builder *b, const cupel_call *call, int i, int axes, const int64_t *fallback,
                      int64_t least, const char *what, int64_t *out);

/* Argument 0 as a tensor [N, C, spatial..]; *batched tells whether it was one before. Fills in size. */
int cupel_slide_input(cupel_builder *b, const cupel_call *call, cupel_slide *slide, bool *batched);

/* y [N, C, ..] without the axis N where there was none. */
int cupel_slide_result(cupel_builder *b, int y, bool batched);

/* Adds before and after to the spatial axes, the last of x. */
int cupel_slide_pad(cupel_builder *b, int x, const cupel_slide *slide, double fill);

/* The windows of a padded x: a view of overlapping parts. channels first: [C, kernel.., N, out..] of x [N, C,
 * ..]; else [leading.., out.., kernel..]. */
int cupel_slide_windows(cupel_builder *b, int x, const cupel_slide *slide, bool channels_first);

#endif
