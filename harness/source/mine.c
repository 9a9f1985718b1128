#include "mine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "constants.h"
#include "includes.h"
#include "source_impl.h"

enum { CANDIDATES_MAX = 2048, RANK_COMPARED = 4, RANK_FACTOR = 6, NUMBERS_MAX = 1024 };

static const int64_t word_most = INT64_C(1) << 40;

typedef struct number {
    double value;
    bool compared;
} number;

typedef struct miner {
    const cupel_tokens *tokens;
    const cupel_structure *structure; /* NULL: a macro's replacement */
    const cupel_constants *constants;
    size_t place; /* of the macro's definition, where the tokens are its replacement */
    int count, number_count;
    cupel_word words[CANDIDATES_MAX];
    number numbers[NUMBERS_MAX];
} miner;

static bool is(const miner *m, size_t i, const char *word) {
    return cupel_lexer_is(m->tokens, i, word);
}

static bool is_kind(const miner *m, size_t i, cupel_token_kind kind) {
    return i < m->tokens->count && m->tokens->at[i].kind == kind;
}

static const char *text_at(const miner *m, size_t i) {
    return m->tokens->text + m->tokens->at[i].offset;
}

static size_t place_at(const miner *m, size_t i) {
    return m->structure && i < m->tokens->count ? m->tokens->at[i].offset : m->place;
}

/* Strongest first. */
static int strength(cupel_word_role role) {
    switch (role) {
    case CUPEL_WORD_MODULUS: return 3;
    case CUPEL_WORD_COMPARED: return 2;
    case CUPEL_WORD_SIZE: return 1;
    default: return 0;
    }
}

static void add_word(miner *m, int64_t value, cupel_word_role role, int64_t residue) {
    if (value < 0) value = value > -word_most ? -value : 0;
    bool weak = role == CUPEL_WORD_PLAIN || role == CUPEL_WORD_SIZE;
    /* halves, parity and masks of a whole warp are everywhere */
    bool everywhere =
        value < 2 || (value == 2 && role != CUPEL_WORD_COMPARED) || (value == UINT32_MAX && weak);
    if (everywhere || value > word_most) return;
    for (int i = 0; i < m->count; i++) {
        cupel_word *w = &m->words[i];
        bool another = w->role == CUPEL_WORD_MODULUS && role == CUPEL_WORD_MODULUS && w->residue >= 0 &&
                       residue >= 0 && w->residue != residue;
        if (w->value != value || another) continue;
        if (strength(role) > strength(w->role)) w->role = role;
        if (residue >= 0) w->residue = residue;
        return;
    }
    if (m->count < CANDIDATES_MAX) m->words[m->count++] = (cupel_word){value, residue, role};
}

static void add_number(miner *m, double value, bool compared) {
    value = fabs(value);
    if (!isfinite(value) || value == 0 || value == 1 || value == 2 || value == 0.5) return;
    for (int i = 0; i < m->number_count; i++)
        if (m->numbers[i].value == value) {
            m->numbers[i].compared |= compared;
            return;
        }
    if (m->number_count < NUMBERS_MAX) m->numbers[m->number_count++] = (number){value, compared};
}

/* == != <= >= and the < and > that are no brackets of templates and no half of a shift. */
static bool is_comparison(const miner *m, size_t i) {
    if (!is_kind(m, i, CUPEL_TOKEN_MARK)) return false;
    if (is(m, i, "==") || is(m, i, "!=") || is(m, i, "<=") || is(m, i, ">=")) return true;
    if (!is(m, i, "<") && !is(m, i, ">")) return false;
    size_t length;
    bool shift = cupel_constants_operator(m->tokens, i, &length) > 0 ||
                 (i > 0 && cupel_constants_operator(m->tokens, i - 1, &length) > 0 && length == 2);
    return !shift;
}

/* Does an operand end at token i? Then a following mark is binary. */
static bool ends_operand(const miner *m, size_t i) {
    if (is_kind(m, i, CUPEL_TOKEN_NUMBER)) return true;
    if (is_kind(m, i, CUPEL_TOKEN_WORD)) return !is(m, i, "return") && !is(m, i, "case");
    return is(m, i, ")") || is(m, i, "]");
}

/* The constant operand at token i, of operators of at least rank; *after gets what follows it. */
static bool constant_at(const miner *m, size_t i, int rank, int64_t *value, size_t *after) {
    *after = i;
    return cupel_constants_evaluate(m->constants, m->tokens, after, m->tokens->count, rank, place_at(m, i),
                                    value);
}

/* The constant operand of a comparison that ends before token i. */
static bool constant_before(const miner *m, size_t i, int64_t *value) {
    size_t begin = i;
    int depth = 0;
    while (begin > 0) {
        size_t k = begin - 1;
        if (m->tokens->at[k].kind == CUPEL_TOKEN_DIRECTIVE) break;
        if (m->tokens->at[k].kind == CUPEL_TOKEN_MARK) {
            char c = *text_at(m, k);
            if (c == ')' || c == ']') depth++;
            if (c == '(' || c == '[') depth--;
            if (depth < 0 || (depth == 0 && (strchr(";{},?:=!", c) || is_comparison(m, k) || is(m, k, "&&") ||
                                             is(m, k, "||"))))
                break;
        }
        if (is(m, k, "return") || i - k > 32) break;
        begin = k;
    }
    size_t after = begin;
    return begin < i &&
           cupel_constants_evaluate(m->constants, m->tokens, &after, i, 1, place_at(m, begin), value) &&
           after == i;
}

/* Does token i stand between the parentheses of a for? What a loop counts up to is a size. */
static bool in_loop_head(const miner *m, size_t i) {
    int depth = 0;
    for (size_t k = i; k > 0 && i - k < 64; k--) {
        if (is(m, k, ")")) depth++;
        if (is(m, k, "{") || is(m, k, "}")) return false;
        if (is(m, k, "(") && --depth < 0) return is(m, k - 1, "for");
    }
    return false;
}

static void mine_comparison(miner *m, size_t i) {
    int64_t value;
    size_t after, length;
    cupel_word_role role = in_loop_head(m, i) ? CUPEL_WORD_SIZE : CUPEL_WORD_COMPARED;
    if (constant_at(m, i + 1, RANK_COMPARED, &value, &after) &&
        cupel_constants_operator(m->tokens, after, &length) < RANK_COMPARED)
        add_word(m, value, role, -1);
    if (constant_before(m, i, &value)) add_word(m, value, role, -1);
}

/* What a remainder whose expression ends before token i, or begins at token begin, is compared with; -1: not
 * known. */
static int64_t residue_of(const miner *m, size_t begin, size_t i, int64_t modulus) {
    int64_t value;
    size_t after;
    while (is(m, i, ")")) i++;
    bool known = is_comparison(m, i) && constant_at(m, i + 1, RANK_COMPARED, &value, &after);
    if (!known) { /* 7 == n % 97 */
        size_t k = begin;
        while (k > 0 && (is_kind(m, k - 1, CUPEL_TOKEN_WORD) || is(m, k - 1, "(") || is(m, k - 1, "."))) k--;
        known = k > 0 && is_comparison(m, k - 1) && constant_before(m, k - 1, &value);
    }
    return known && value >= 0 && value < modulus ? value : -1;
}

static bool followed_by_equals(const miner *m, size_t i) {
    return is(m, i + 1, "=") && m->tokens->at[i].offset + 1 == m->tokens->at[i + 1].offset;
}

/* n % P, n & (P - 1), n / S, n >> k, blockIdx.x * S, i += S. */
static void mine_arithmetic(miner *m, size_t i) {
    int64_t value;
    size_t after, length = 1;
    bool assigns = followed_by_equals(m, i);
    char mark = *text_at(m, i);
    size_t operand = assigns ? i + 2 : i + 1;
    int rank = assigns ? 1 : RANK_FACTOR + 1;
    bool shift = mark == '>' && cupel_constants_operator(m->tokens, i, &length) > 0;
    if (mark == '>' && !shift) return;
    if (shift) operand = i + 2, rank = 5;
    if (mark == '&' && !assigns) rank = RANK_COMPARED;
    if (!constant_at(m, operand, rank, &value, &after) || value < 0) return;
    if (mark == '%')
        add_word(m, value, CUPEL_WORD_MODULUS, value > 0 ? residue_of(m, i, after, value) : -1);
    else if (mark == '&' && value > 0 && value < word_most && (value & (value + 1)) == 0)
        add_word(m, value + 1, CUPEL_WORD_MODULUS, residue_of(m, i, after, value + 1));
    else if (mark == '/' || (assigns && (mark == '+' || mark == '-')))
        add_word(m, value, CUPEL_WORD_SIZE, -1);
    else if (shift && value > 0 && value < 40)
        add_word(m, INT64_C(1) << value, CUPEL_WORD_SIZE, -1);
    else if (mark == '*' && i > 2 && is(m, i - 3, "blockIdx"))
        add_word(m, value, CUPEL_WORD_SIZE, -1);
}

/* float tile[32][33]: an extent. */
static bool declares_array(const miner *m, size_t i) {
    while (i > 0 && is(m, i - 1, "]")) {
        while (i > 0 && !is(m, i - 1, "[")) i--;
        if (i > 0) i--;
    }
    return i > 1 && is_kind(m, i - 1, CUPEL_TOKEN_WORD) &&
           (is_kind(m, i - 2, CUPEL_TOKEN_WORD) || is(m, i - 2, ">")) && !is(m, i - 2, "return");
}

/* Past the > of a template's arguments or parameters that begin with the < at i; 0 when it is a comparison.
 */
static size_t template_end(const miner *m, size_t i) {
    static const char *const inside[] = {",", "::", "*", "&", "(", ")", "+", "-", "/", "=", "..."};
    int depth = 0;
    if (i == 0 || !is_kind(m, i - 1, CUPEL_TOKEN_WORD)) return 0;
    for (size_t k = i; k < m->tokens->count && k < i + 64; k++) {
        if (is(m, k, "<")) depth++;
        if (is(m, k, ">") && --depth == 0)
            return is_kind(m, k + 1, CUPEL_TOKEN_WORD) || is(m, k + 1, "(") || is(m, k + 1, "::") ||
                           is(m, k + 1, "{") || is(m, k + 1, ">")
                       ? k + 1
                       : 0;
        bool good = is(m, k, "<") || is(m, k, ">") || !is_kind(m, k, CUPEL_TOKEN_MARK);
        for (size_t c = 0; !good && c < sizeof inside / sizeof *inside; c++) good = is(m, k, inside[c]);
        if (!good || is_kind(m, k, CUPEL_TOKEN_DIRECTIVE)) return 0;
    }
    return 0;
}

static void mine_template(miner *m, size_t i, size_t end) {
    for (size_t k = i; k + 1 < end; k++) {
        int64_t value;
        size_t after = k + 1;
        if (!is(m, k, "<") && !is(m, k, ",") && !is(m, k, "=")) continue;
        if (cupel_constants_evaluate(m->constants, m->tokens, &after, end - 1, 1, place_at(m, k + 1), &value))
            add_word(m, value, CUPEL_WORD_SIZE, -1);
    }
}

/* The role that a constant gets from the mark or word before it: an extent, a case, a bound; else plain. */
static cupel_word_role role_behind(const miner *m, size_t i) {
    if (is(m, i, "[")) return declares_array(m, i) ? CUPEL_WORD_SIZE : CUPEL_WORD_PLAIN;
    if (is(m, i, "case")) return CUPEL_WORD_COMPARED;
    size_t open = i;
    while (open > 0 && i - open < 16 && !is(m, open, "(")) open--;
    if (open == 0 || !is(m, open, "(")) return CUPEL_WORD_PLAIN;
    static const char *const bounds[] = {"min", "max", "umin", "umax", "clamp"};
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
        if (is(m, open - 1, bounds[k])) return CUPEL_WORD_COMPARED;
    return is(m, open - 1, "__launch_bounds__") ? CUPEL_WORD_SIZE : CUPEL_WORD_PLAIN;
}

/* A whole constant expression that stands alone: [4 * WARP], case 7:, f(a, 1 << 10), = 256. */
static void mine_standing(miner *m, size_t i) {
    int64_t value;
    size_t after;
    bool before = is(m, i, "[") || is(m, i, "(") || is(m, i, ",") || is(m, i, "=") || is(m, i, "{") ||
                  is(m, i, "return") || is(m, i, "case") || is(m, i, "?");
    if (!before || !constant_at(m, i + 1, 1, &value, &after)) return;
    static const char *const ends[] = {"]", ")", ",", ";", "}", ":"};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (is(m, after, ends[k])) add_word(m, value, role_behind(m, i), -1);
}

static bool is_real_literal(const char *text, size_t length) {
    bool hex = length > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    for (size_t k = 0; k < length; k++)
        if (text[k] == '.' || (hex ? text[k] == 'p' || text[k] == 'P' : strchr("eEfF", text[k]) != NULL))
            return true;
    return false;
}

static void mine_literal(miner *m, size_t i) {
    const cupel_token *t = &m->tokens->at[i];
    char digits[80];
    size_t n = 0;
    int64_t value;
    if (!is_real_literal(text_at(m, i), t->length)) {
        if (cupel_constants_integer(text_at(m, i), t->length, &value))
            add_word(m, value, CUPEL_WORD_PLAIN, -1);
        return;
    }
    for (size_t k = 0; k < t->length && n + 1 < sizeof digits; k++)
        if (text_at(m, i)[k] != '\'') digits[n++] = text_at(m, i)[k];
    digits[n] = '\0';
    char *end;
    double number = strtod(digits, &end);
    if (*end != '\0' && strspn(end, "fFlL") != strlen(end)) return;
    size_t sign = i > 0 && (is(m, i - 1, "-") || is(m, i - 1, "+")) ? 1 : 0;
    bool compared = (i > sign && is_comparison(m, i - sign - 1)) || is_comparison(m, i + 1);
    /* a float literal means the float */
    bool single = *end == 'f' || *end == 'F';
    add_number(m, single ? (double)(float)number : number, compared);
}

static void mine_name(miner *m, size_t i) {
    static const struct {
        const char *name;
        double value;
    } limits[] = {{"FLT_MAX", 0x1.fffffep+127},         {"FLT_MIN", 0x1p-126},  {"FLT_EPSILON", 0x1p-23},
                  {"DBL_MAX", 0x1.fffffffffffffp+1023}, {"DBL_MIN", 0x1p-1022}, {"DBL_EPSILON", 0x1p-52}};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        if (is(m, i, limits[k].name)) add_number(m, limits[k].value, false);
    int64_t value;
    size_t at = i;
    if (cupel_constants_evaluate(m->constants, m->tokens, &at, i + 1, 1, place_at(m, i), &value))
        add_word(m, value, CUPEL_WORD_PLAIN, -1);
}

static bool skipped(const miner *m, size_t i) {
    return m->tokens->at[i].kind == CUPEL_TOKEN_DIRECTIVE ||
           (m->structure && m->structure->depth[i] == CUPEL_STRUCTURE_DEAD);
}

static void mine_tokens(miner *m) {
    size_t template_until = 0;
    for (size_t i = 0; i < m->tokens->count; i++) {
        if (skipped(m, i)) continue;
        if (m->tokens->at[i].kind == CUPEL_TOKEN_NUMBER) mine_literal(m, i);
        if (m->tokens->at[i].kind == CUPEL_TOKEN_WORD) mine_name(m, i);
        mine_standing(m, i);
        if (m->tokens->at[i].kind != CUPEL_TOKEN_MARK) continue;
        size_t end = i >= template_until && is(m, i, "<") ? template_end(m, i) : 0;
        if (end) {
            template_until = end;
            mine_template(m, i, end);
        }
        if (i < template_until) continue;
        if (is_comparison(m, i))
            mine_comparison(m, i);
        else if (m->tokens->at[i].length == 1 && strchr("%&/>*+-", *text_at(m, i)) && i > 0 &&
                 ends_operand(m, i - 1))
            mine_arithmetic(m, i);
    }
}

/* Is a word used in code? */
static bool mentioned(const cupel_structure *s, const char *name, size_t length) {
    for (size_t i = 0; i < s->tokens.count; i++) {
        const cupel_token *t = &s->tokens.at[i];
        if (t->kind == CUPEL_TOKEN_WORD && t->length == length && s->depth[i] != CUPEL_STRUCTURE_DEAD &&
            memcmp(s->tokens.text + t->offset, name, length) == 0)
            return true;
    }
    return false;
}

/* The replacements of the macros that code mentions, directly: what they hold is code too. */
static cupel_code mine_macros(miner *m, const cupel_structure *s, cupel_arena *arena, cupel_error *err) {
    enum { MACROS_MAX = 512 };
    int mined = 0;
    for (size_t i = 0; i < s->tokens.count && mined < MACROS_MAX; i++) {
        char word[16];
        size_t name, length;
        bool function_like;
        if (s->tokens.at[i].kind != CUPEL_TOKEN_DIRECTIVE || s->depth[i] == CUPEL_STRUCTURE_DEAD) continue;
        cupel_lexer_directive(&s->tokens, i, word, sizeof word);
        if (strcmp(word, "define") != 0) continue;
        size_t body = cupel_macros_body(&s->tokens, i, &name, &length, &function_like);
        if (!mentioned(s, s->tokens.text + name, length)) continue;
        const cupel_token *t = &s->tokens.at[i];
        cupel_tokens own;
        CUPEL_TRY(
            cupel_lexer_run(s->tokens.text + body, t->offset + t->length - body, t->file, arena, &own, err));
        m->tokens = &own, m->structure = NULL, m->place = t->offset;
        mine_tokens(m);
        mined++;
    }
    return CUPEL_OK;
}

static void hand_out(const miner *m, cupel_dictionary *out) {
    for (int wanted = 3; wanted >= 0; wanted--)
        for (int i = 0; i < m->count && out->word_count < CUPEL_DICTIONARY_WORDS; i++)
            if (strength(m->words[i].role) == wanted) out->words[out->word_count++] = m->words[i];
    for (int wanted = 1; wanted >= 0; wanted--)
        for (int i = 0; i < m->number_count && out->number_count < CUPEL_DICTIONARY_NUMBERS; i++)
            if (m->numbers[i].compared == wanted) out->numbers[out->number_count++] = m->numbers[i].value;
}

static cupel_code mine_text(const char *text, size_t length, const char *path, cupel_arena *arena,
                            cupel_dictionary *out, cupel_error *err) {
    cupel_tokens tokens;
    cupel_structure structure;
    cupel_constants constants;
    miner *m = cupel_arena_alloc(arena, sizeof *m);
    if (!m) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(cupel_lexer_run(text, length, path, arena, &tokens, err));
    CUPEL_TRY(cupel_structure_build(&tokens, arena, &structure, err));
    CUPEL_TRY(cupel_constants_collect(&structure, arena, &constants, err));
    m->tokens = &tokens, m->structure = &structure, m->constants = &constants;
    mine_tokens(m);
    CUPEL_TRY(mine_macros(m, &structure, arena, err));
    hand_out(m, out);
    return CUPEL_OK;
}

/* The macros of the command line as lines before the text. */
static cupel_code with_defines(const cupel_source_options *options, cupel_arena *arena, char **text,
                               size_t *length, cupel_error *err) {
    cupel_buffer whole = {.arena = arena};
    if (options == NULL || options->define_count == 0) return CUPEL_OK;
    for (int i = 0; i < options->define_count; i++) {
        const char *name = options->defines[i], *equals = strchr(name, '=');
        int name_length = equals ? (int)(equals - name) : (int)strlen(name);
        CUPEL_TRY(cupel_buffer_printf(&whole, err, "#define %.*s %s\n", name_length, name,
                                      equals ? equals + 1 : "1"));
    }
    CUPEL_TRY(cupel_buffer_add(&whole, *text, *length, err));
    *text = whole.bytes, *length = whole.length;
    return CUPEL_OK;
}

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

cupel_code cupel_dictionary_mine(const char *path, const cupel_source_options *options, cupel_arena *arena,
                                 cupel_dictionary *out, cupel_error *err) {
    *out = (cupel_dictionary){0};
    const char *name = strrchr(path, '/');
    if (strstr(name ? name : path, ".so") != NULL) return CUPEL_OK; /* an object shows no source */
    char *text;
    size_t length;
    if (ends_in(path, ".c")) {
        const char *missing;
        int missing_count;
        CUPEL_TRY(
            cupel_includes_assemble(path, options, arena, &text, &length, &missing, &missing_count, err));
    } else {
        cupel_source *source;
        CUPEL_TRY(cupel_source_load(path, options, arena, &source, err));
        text = source->text, length = source->length;
    }
    CUPEL_TRY(with_defines(options, arena, &text, &length, err));
    return mine_text(text, length, path, arena, out, err);
}
