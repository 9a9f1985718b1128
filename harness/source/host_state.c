/* Does the host have a hand in what device variables hold from call to call? */
#include <string.h>

#include "source_impl.h"

/* cudaMemcpyToSymbolAsync, cudaGetSymbolAddress, cuModuleGetGlobal, hipMemcpyToSymbol, .. */
static bool reaches_variables(const char *word) {
    static const char *const parts[] = {"MemcpyToSymbol", "GetSymbolAddress", "ModuleGetGlobal",
                                        "LibraryGetGlobal", "LibraryGetManaged"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(word, parts[i]) != NULL) return true;
    return false;
}

/* Whether a kernel that the entries do not launch uses a variable that they use too: host code may run it in
 * between, to reset a counter for instance. */
static cupel_code shares_variables(const cupel_source *source, const uint8_t *mine, bool *shared,
                                   cupel_error *err) {
    const cupel_declarations *declarations = &source->parts->declarations;
    uint8_t *theirs = cupel_arena_alloc(source->parts->arena, declarations->count + 1);
    if (theirs == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (size_t k = 0; k < declarations->count; k++) {
        const cupel_declaration *kernel = &declarations->at[k];
        const char *name = kernel->name;
        if (kernel->kind != CUPEL_DECLARATION_KERNEL || mine[k] || *name == '\0') continue;
        memset(theirs, 0, declarations->count);
        CUPEL_TRY(cupel_reach_mark(source->parts, 1, &name, theirs, err));
        for (size_t i = 0; i < declarations->count; i++)
            if (mine[i] && theirs[i] && declarations->at[i].kind == CUPEL_DECLARATION_DEVICE_VARIABLE)
                *shared = true;
    }
    return CUPEL_OK;
}

cupel_code cupel_source_host_state(const cupel_source *source, int entry_count, const char *const *entries,
                                   bool *out, cupel_error *err) {
    const cupel_tokens *tokens = &source->parts->structure.tokens;
    char word[64];
    *out = false;
    for (size_t i = 0; i < tokens->count; i++) {
        const cupel_token *token = &tokens->at[i];
        if (token->kind != CUPEL_TOKEN_WORD || token->length >= sizeof word) continue;
        memcpy(word, tokens->text + token->offset, token->length);
        word[token->length] = '\0';
        if (reaches_variables(word)) *out = true;
    }
    if (*out) return CUPEL_OK;
    uint8_t *mine = cupel_arena_alloc(source->parts->arena, source->parts->declarations.count + 1);
    if (mine == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(cupel_reach_mark(source->parts, entry_count, entries, mine, err));
    return shares_variables(source, mine, out, err);
}
