#pragma once
#include <math.h>

static float scaled(float x) {
    return SCALE * x;
}
