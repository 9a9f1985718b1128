/* The engines of this build. Private to this folder. */
#ifndef CUPEL_ENGINE_LIST_H
#define CUPEL_ENGINE_LIST_H

#include "engine.h"

extern const cupel_engine cupel_engine_undirected;
#ifdef CUPEL_HAS_LIBFUZZER
extern const cupel_engine cupel_engine_libfuzzer;
#endif

#endif
