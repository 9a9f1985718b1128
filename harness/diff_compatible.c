/* Do two contracts claim the same thing? */
#include <string.h>

#include "diff.h"

static cupel_code differ(cupel_error *err, const char *what, const char *name) {
    return cupel_fail(err, CUPEL_USAGE, "the two contracts cannot be compared: they differ in %s%s%s%s", what,
                      name[0] != '\0' ? " '" : "", name, name[0] != '\0' ? "'" : "");
}

static bool same_text(const cupel_scalar_expr *a, const cupel_scalar_expr *b) {
    if (a == NULL || b == NULL) return a == b;
    cupel_span x = cupel_scalar_text(a), y = cupel_scalar_text(b);
    return x.length == y.length && memcmp(x.text, y.text, x.length) == 0;
}

static bool same_name(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_expr(const cupel_expr *a, const cupel_expr *b) {
    if (a == NULL || b == NULL) return a == b;
    if (a->kind != b->kind || a->count != b->count || a->real != b->real || a->integer != b->integer ||
        memcmp(&a->number, &b->number, sizeof a->number) != 0 || !same_name(a->name, b->name))
        return false;
    for (int i = 0; i < a->count; i++) {
        const char *x = a->keywords != NULL ? a->keywords[i] : NULL,
                   *y = b->keywords != NULL ? b->keywords[i] : NULL;
        if (!same_name(x, y) || !same_expr(a->children[i], b->children[i])) return false;
    }
    return true;
}

static cupel_code compare_names(const cupel_contract *a, const cupel_contract *b, cupel_error *err) {
    if (a->dim_count != b->dim_count) return differ(err, "the number of dims", "");
    if (a->param_count != b->param_count) return differ(err, "the number of params", "");
    if (a->tensor_count != b->tensor_count) return differ(err, "the number of tensors", "");
    for (int i = 0; i < a->dim_count; i++)
        if (strcmp(a->dims[i].name, b->dims[i].name) != 0) return differ(err, "the dim", a->dims[i].name);
    for (int i = 0; i < a->param_count; i++)
        if (strcmp(a->params[i].name, b->params[i].name) != 0)
            return differ(err, "the param", a->params[i].name);
    return CUPEL_OK;
}

static cupel_code compare_tensor(const cupel_tensor_decl *a, const cupel_tensor_decl *b, cupel_error *err) {
    bool same = strcmp(a->name, b->name) == 0 && a->roles == b->roles && a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = same_text(a->shape[i], b->shape[i]);
    if (!same) return differ(err, "the tensor", a->name);
    if (!same_expr(a->ensures, b->ensures)) return differ(err, "what they ensure of", a->name);
    return CUPEL_OK;
}

cupel_code cupel_diff_compatible(const cupel_contract *a, const cupel_contract *b, cupel_error *err) {
    CUPEL_TRY(compare_names(a, b, err));
    for (int i = 0; i < a->tensor_count; i++) CUPEL_TRY(compare_tensor(&a->tensors[i], &b->tensors[i], err));
    if (a->define_count != b->define_count) return differ(err, "their definitions", "");
    for (int i = 0; i < a->define_count; i++)
        if (strcmp(a->defines[i].name, b->defines[i].name) != 0 ||
            !same_expr(a->defines[i].expr, b->defines[i].expr))
            return differ(err, "the definition", a->defines[i].name);
    return CUPEL_OK;
}
