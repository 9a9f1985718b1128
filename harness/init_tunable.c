/* Macros that are made to be set from outside. */
#include <string.h>

#include "init_kernel.h"

/* Is the token before the macro's #define "#ifndef NAME"? */
static bool is_default(const cupel_tokens *tokens, const cupel_macro *macro) {
    char directive[16];
    if (macro->directive == 0 || tokens->at[macro->directive - 1].kind != CUPEL_TOKEN_DIRECTIVE) return false;
    const cupel_token *before = &tokens->at[macro->directive - 1];
    size_t at = cupel_lexer_directive(tokens, macro->directive - 1, directive, sizeof directive);
    const size_t end = before->offset + before->length, length = strlen(macro->name);
    while (at < end && (tokens->text[at] == ' ' || tokens->text[at] == '\t')) at++;
    return strcmp(directive, "ifndef") == 0 && end - at >= length &&
           memcmp(tokens->text + at, macro->name, length) == 0 &&
           strspn(tokens->text + at + length, " \t\r\n") >= end - at - length;
}

bool cupel_init_tunable_next(const cupel_init_kernel *kernel, size_t *from, cupel_init_tunable *out) {
    const cupel_init_file *file = kernel->file;
    const cupel_tokens *tokens = &file->structure.tokens;
    while (*from < file->macros.count) {
        const cupel_macro *macro = &file->macros.at[(*from)++];
        if ((macro->traits & CUPEL_TRAIT_FUNCTION_LIKE) || !is_default(tokens, macro)) continue;
        if (!cupel_init_kernel_reaches(kernel, &macro->name, 1)) continue;
        const cupel_init_tree *value = cupel_init_file_constant(file, macro->name);
        if (!value || value->op != '#' || value->value < 1) continue;
        *out = (cupel_init_tunable){macro->name, value->value, tokens->at[macro->directive].line};
        return true;
    }
    return false;
}
