/* The kernels of a file, as messages and the compile step speak of them. */
#include "source_impl.h"

/* The text strictly between tokens first and last, its white space reduced to single blanks. */
static const char *text_between(const cupel_source_parts *parts, size_t first, size_t last) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    if (last <= first + 1 || last >= tokens->count) return "";
    size_t begin = tokens->at[first].offset + tokens->at[first].length, end = tokens->at[last].offset, n = 0;
    char *text = cupel_arena_raw(parts->arena, end - begin + 1, 1);
    if (!text) return NULL;
    for (size_t i = begin; i < end; i++) {
        char c = tokens->text[i];
        bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (!space)
            text[n++] = c;
        else if (n && text[n - 1] != ' ')
            text[n++] = ' ';
    }
    while (n && text[n - 1] == ' ') n--;
    text[n] = '\0';
    return text;
}

static const char *template_parameters(const cupel_source_parts *parts, const cupel_declaration *d) {
    const cupel_structure *s = &parts->structure;
    uint8_t depth = s->depth[d->begin];
    size_t open = cupel_structure_next(s, d->begin + 1, d->end, depth);
    if (!d->is_template || open >= d->end || !cupel_structure_is(s, open, "<")) return "";
    return text_between(parts, open, cupel_structure_close_angle(s, open, d->end, depth) - 1);
}

/* The first argument of __launch_bounds__. */
static const char *launch_bounds(const cupel_source_parts *parts, const cupel_declaration *d) {
    const cupel_structure *s = &parts->structure;
    for (size_t i = d->begin; i + 1 < d->params_begin; i++) {
        if (!cupel_structure_is(s, i, "__launch_bounds__") || !cupel_structure_is(s, i + 1, "(")) continue;
        size_t last = i + 2;
        for (int depth = 0; last < d->params_begin; last++) {
            bool ends = cupel_structure_is(s, last, ",") || cupel_structure_is(s, last, ")");
            if (depth == 0 && ends) break;
            depth += cupel_structure_is(s, last, "(");
            depth -= cupel_structure_is(s, last, ")");
        }
        return text_between(parts, i + 1, last);
    }
    return "";
}

cupel_code cupel_kernel_list_fill(const cupel_source_parts *parts, cupel_source *out, cupel_error *err) {
    out->kernels = cupel_arena_raw(parts->arena, parts->declarations.count + 1, sizeof *out->kernels);
    if (!out->kernels) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        if (d->kind != CUPEL_DECLARATION_KERNEL || !d->body_end) continue;
        cupel_source_kernel kernel = {.name = cupel_arena_printf(parts->arena, "%s%s", d->scope, d->name),
                                      .is_template = d->is_template,
                                      .file = parts->structure.tokens.at[d->params_begin - 1].file,
                                      .line = parts->structure.tokens.at[d->params_begin - 1].line,
                                      .parameters = text_between(parts, d->params_begin, d->params_end - 1),
                                      .template_parameters = template_parameters(parts, d),
                                      .launch_bounds = launch_bounds(parts, d)};
        if (!kernel.name || !kernel.parameters || !kernel.template_parameters || !kernel.launch_bounds)
            return cupel_fail(err, CUPEL_MEMORY, "out of memory");
        out->kernels[out->kernel_count++] = kernel;
    }
    return CUPEL_OK;
}
