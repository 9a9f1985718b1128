/* What inline PTX becomes: the source step writes calls of these functions for each instruction, as its table says
 * (harness/source/ptx_table.c). A destination is a reference, sources follow. */
#ifndef CUPEL_PTX_H
#define CUPEL_PTX_H

#include "cupel_ptx_types.h"

#include "cupel_ptx_integer.h"

#include "cupel_ptx_float.h"

#include "cupel_ptx_convert.h"

#include "cupel_ptx_memory.h"

#include "cupel_ptx_warp.h"

#include "cupel_ptx_matrix.h"

#include "cupel_ptx_barrier.h"

#endif
