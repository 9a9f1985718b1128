/* Contracts from hostile text, as YAML and as the source that holds them. What is accepted must have a legal
 * ordinary shape, and what is refused a place. */
#include <stdint.h>
#include <stdlib.h>

#include "contract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, size_t size, bool is_yaml) {
    cupel_arena *arena = cupel_arena_create(512 * 1024 * 1024);
    cupel_contracts contracts;
    cupel_error err = {0};
    if (!arena) return;
    if (cupel_contracts_parse(is_yaml ? "f.yaml" : "f.cu", text, size, is_yaml, arena, &contracts, &err) !=
        CUPEL_OK) {
        if (err.line < 1 || err.column < 1 || !err.text[0]) abort();
    } else {
        for (int i = 0; i < contracts.count; i++) {
            cupel_binding binding;
            cupel_graph *graph;
            if (cupel_binding_ordinary(contracts.items[i], &binding, &err) != CUPEL_OK) abort();
            if (!cupel_binding_legal(&binding)) abort();
            if (cupel_binding_graph(&binding, arena, &graph, &err) != CUPEL_OK) abort();
        }
    }
    cupel_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check((const char *)data, size, true);
    check((const char *)data, size, false);
    return 0;
}
