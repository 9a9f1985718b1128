#include "gate.h"

#include <string.h>

static const struct {
    const char *id, *title;
} names[CUPEL_GATE_COUNT] = {
#define CUPEL_GATE_TEXT(name, id, title) [CUPEL_GATE_##name] = {id, title},
    CUPEL_GATES(CUPEL_GATE_TEXT)
#undef CUPEL_GATE_TEXT
};

const char *cupel_gate_id(cupel_gate gate) {
    return (unsigned)gate < CUPEL_GATE_COUNT ? names[gate].id : "?";
}

const char *cupel_gate_title(cupel_gate gate) {
    return (unsigned)gate < CUPEL_GATE_COUNT ? names[gate].title : "?";
}

bool cupel_gate_parse(const char *id, cupel_gate *out) {
    for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++)
        if (!strcmp(names[gate].id, id)) {
            *out = (cupel_gate)gate;
            return true;
        }
    return false;
}

/* Each in its own file, gate_ID.c. */
#define CUPEL_GATE_FILES(X)                                                                                  \
    X(CMP_01, cmp_01)                                                                                        \
    X(CMP_02, cmp_02)                                                                                        \
    X(CMP_03, cmp_03)                                                                                        \
    X(ORD_01, ord_01)                                                                                        \
    X(ORD_02, ord_02)                                                                                        \
    X(ORD_03, ord_03)                                                                                        \
    X(PRC_01, prc_01)                                                                                        \
    X(PRC_02, prc_02) X(EXC_01, exc_01) X(EXC_02, exc_02) X(RES_01, res_01) X(RES_02, res_02)

#define CUPEL_GATE_DECLARE(name, file) extern const cupel_gate_info cupel_gate_##file;
CUPEL_GATE_FILES(CUPEL_GATE_DECLARE)
#undef CUPEL_GATE_DECLARE

const cupel_gate_info *cupel_gate_info_of(cupel_gate gate) {
    static const cupel_gate_info *const infos[CUPEL_GATE_COUNT] = {
#define CUPEL_GATE_ENTRY(name, file) [CUPEL_GATE_##name] = &cupel_gate_##file,
        CUPEL_GATE_FILES(CUPEL_GATE_ENTRY)
#undef CUPEL_GATE_ENTRY
    };
    return infos[gate];
}
