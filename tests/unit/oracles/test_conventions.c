/* Every row of docs/conventions.md, by the bounded and the exact evaluator: what it lists is permitted, and
 * nothing else of a number nearby, the infinities, NaN and the other zero. */
#include "exact_fixture.h"

#include <ctype.h>
#include <math.h>

enum { LINE_BYTES = 1024, ELEMENTS = 16, CHOICES = 4 };

static int failures, rows;
static char place[LINE_BYTES];

static void __attribute__((format(printf, 1, 2))) complain(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_error("%s: %s\n", place, text);
    failures++;
}

/* ---- reading ---- */

/* What one element may be. */
typedef struct permitted {
    bool open;  /* not judged */
    bool signs; /* the zero's sign counts */
    int count;
    double values[CHOICES];
} permitted;

typedef struct tensor {
    int rank;
    int64_t shape[5];
    int count;
    permitted elements[ELEMENTS];
} tensor;

static void skip_blanks(const char **at) {
    while (isspace((unsigned char)**at)) (*at)++;
}

static bool take(const char **at, const char *word) {
    skip_blanks(at);
    if (strncmp(*at, word, strlen(word)) != 0) return false;
    *at += strlen(word);
    return true;
}

static permitted read_element(const char **at) {
    permitted e = {0};
    if (take(at, "not judged")) {
        e.open = true;
        return e;
    }
    do {
        skip_blanks(at);
        char *end;
        const double value = strtod(*at, &end);
        if (end == *at) fail_msg("%s: a number was expected at '%s'", place, *at);
        e.signs |= value == 0 && (**at == '-' || **at == '+');
        e.values[e.count++] = value;
        *at = end;
    } while (take(at, "or "));
    return e;
}

/* A number, or a list of numbers or lists. */
static void read_tensor(const char **at, tensor *t, int depth) {
    if (!take(at, "[")) {
        t->elements[t->count++] = read_element(at);
        return;
    }
    int64_t count = 0;
    if (t->rank < depth + 1) t->rank = depth + 1;
    while (!take(at, "]")) {
        read_tensor(at, t, depth + 1);
        take(at, ",");
        count++;
    }
    t->shape[depth] = count;
}

static void shape_text(const tensor *t, char *text) {
    text[0] = 0;
    for (int d = 0; d < t->rank; d++) text += sprintf(text, "%s%lld", d ? "," : "", (long long)t->shape[d]);
}

/* "i32 k = [0, 1]; a = [nan]" */
static void read_inputs(exact_fixture *x, const char *text) {
    while (skip_blanks(&text), *text) {
        cupel_dtype type = CUPEL_F32;
        char first[16], second[16] = "", shape[32];
        int used = 0;
        if (sscanf(text, " %15[a-z0-9] %15[a-z]%n", first, second, &used) == 2 &&
            cupel_dtype_parse(first, &type))
            text += used;
        else if (sscanf(text, " %15[a-z]%n", first, &used) == 1)
            text += used, strcpy(second, first);
        if (!take(&text, "=")) fail_msg("%s: '=' was expected at '%s'", place, text);
        tensor t = {0};
        read_tensor(&text, &t, 0);
        unsigned char *bytes = cupel_arena_alloc(x->f.arena, ELEMENTS * 8);
        for (int i = 0; i < t.count; i++)
            cupel_encode(type, t.elements[i].values[0], bytes + (size_t)i * cupel_format_of(type)->size);
        char *name = cupel_arena_alloc(x->f.arena, sizeof second);
        strcpy(name, second);
        shape_text(&t, shape);
        exact_input(x, name, type, shape, bytes);
        take(&text, ";");
    }
}

/* ---- judging ---- */

static bool same(double a, double b, bool signs) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b && (!signs || a != 0 || signbit(a) == signbit(b));
}

static bool listed(const permitted *e, double value) {
    for (int k = 0; k < e->count; k++)
        if (same(e->values[k], value, e->signs)) return true;
    return false;
}

static void judge(const cupel_allowed *allowed, int i, const permitted *e, const char *who) {
    const bool open = allowed->reasons[i] != CUPEL_REASON_JUDGED;
    if (open != e->open) {
        complain("%s, element %d: %s", who, i, open ? cupel_reason_text(allowed->reasons[i]) : "judged");
        return;
    }
    if (open) return;
    if (!same(allowed->value[i], e->values[0], false))
        complain("%s, element %d: the value is %g, not %g", who, i, allowed->value[i], e->values[0]);
    const bool real = cupel_format_of(allowed->type)->kind == CUPEL_KIND_REAL;
    const double first = isfinite(e->values[0]) ? e->values[0] : 1;
    const double probes[] = {e->values[0], e->values[e->count - 1], NAN,      INFINITY, -INFINITY, 0.0,
                             -0.0,         first * 1.5 + 1,         first - 1};
    for (size_t k = 0; k < sizeof probes / sizeof *probes; k++) {
        if (!real && (!isfinite(probes[k]) || probes[k] != trunc(probes[k]))) continue;
        unsigned char bytes[8];
        cupel_encode(allowed->type, probes[k], bytes);
        const bool allows = cupel_judge_element(allowed, i, bytes) == CUPEL_ALLOWED;
        if (allows != listed(e, cupel_decode(allowed->type, bytes)))
            complain("%s, element %d: %g is %s", who, i, probes[k], allows ? "allowed" : "refused");
    }
}

/* Integers and booleans go to an i32 output, reals to f32. */
static void build(exact_fixture *x, const char *expression, const tensor *expected) {
    char shape[32];
    shape_text(expected, shape);
    if (fixture_try(&x->f, expression, CUPEL_F32, shape) != CUPEL_OK) {
        complain("%s", x->f.err.text);
        return;
    }
    const cupel_node *result = &x->f.graph->nodes[x->f.graph->outputs[0].node];
    exact_build(x, expression, result->kind == CUPEL_VALUE_REAL ? CUPEL_F32 : CUPEL_I32, shape);
    cupel_allowed bounded, exact;
    assert_int_equal(
        cupel_oracle_bounded(x->f.graph, &x->bindings, &x->rules, x->f.arena, &bounded, &x->f.err), CUPEL_OK);
    assert_int_equal(cupel_exact_output(x->session, 0, x->f.arena, &exact, &x->f.err), CUPEL_OK);
    for (int i = 0; i < expected->count; i++) {
        judge(&bounded, i, &expected->elements[i], "bounded");
        judge(&exact, i, &expected->elements[i], "exact");
    }
}

static void try_row(char *expression, const char *inputs, const char *result) {
    exact_fixture x;
    exact_start(&x);
    x.rules.fast_math = false;
    read_inputs(&x, inputs);
    tensor expected = {0};
    read_tensor(&result, &expected, 0);
    skip_blanks(&result);
    if (*result) complain("the result ends with '%s'", result);
    build(&x, expression, &expected);
    exact_end(&x);
    rows++;
}

/* "| `expression` | inputs | result | source |" */
static void read_line(char *line) {
    snprintf(place, sizeof place, "%.*s", (int)strcspn(line, "\n"), line);
    if (strncmp(line, "| `", 3) != 0) return;
    char *expression = line + 3, *end = strstr(expression, "` |");
    if (!end) fail_msg("%s: no end of the expression", place);
    *end = 0;
    char *inputs = end + 3, *bar = strstr(inputs, " |");
    *bar = 0;
    char *result = bar + 2;
    bar = strstr(result, " |");
    if (!bar) fail_msg("%s: four columns were expected", place);
    *bar = 0;
    try_row(expression, inputs, result);
}

static void the_page_is_true(void **state) {
    (void)state;
    FILE *page = fopen(CONVENTIONS, "r");
    assert_non_null(page);
    static char line[LINE_BYTES];
    while (fgets(line, sizeof line, page)) read_line(line);
    fclose(page);
    assert_int_equal(failures, 0);
    assert_true(rows > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_page_is_true)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
