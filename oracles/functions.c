#include "function_table.h"

#include <string.h>

static const cupel_function_info infos[] = {
#define WHEN_NOW true
#define WHEN_LATER false
#define INFO(family_, name_, signature_, pytorch_, when)                                                     \
    {.family = (family_),                                                                                    \
     .name = #name_,                                                                                         \
     .signature = (signature_),                                                                              \
     .pytorch = (pytorch_),                                                                                  \
     .supported = WHEN_##when},
    CUPEL_FUNCTIONS(INFO)
#undef INFO
};

static cupel_composer *const composers[] = {
#define COMPOSER_NOW(name) cupel_compose_##name,
#define COMPOSER_LATER(name) NULL,
#define COMPOSER(family, name, signature, pytorch, when) COMPOSER_##when(name)
    CUPEL_FUNCTIONS(COMPOSER)
#undef COMPOSER
};

const cupel_function_info *cupel_functions(size_t *count) {
    *count = sizeof infos / sizeof *infos;
    return infos;
}

cupel_composer *cupel_compose_find(size_t function) {
    return composers[function];
}
