/* Shared by resources.c (one binding) and resources_search.c (all of them). */
#ifndef CUPEL_RESOURCES_IMPL_H
#define CUPEL_RESOURCES_IMPL_H

#include "resources.h"

/* What the limit allows its quantity to be. */
void cupel_resources_bounds(const cupel_limit_question *question, cupel_limit limit, int64_t *least,
                            int64_t *most);

#endif
