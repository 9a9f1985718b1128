#include "candidate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu_flags.h"
#include "emu_inline.h"
#include "schedule.h"
#include "text.h"

static void quote(char *command, size_t size, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(command);
        snprintf(command + used, size - used, " '%s'", words[i]);
    }
}

static void must_run(const char *command) {
    if (system(command) != 0) fail_msg("failed: %s", command);
}

/* As emu_compile does it: the checks in place, between the compiler's halves. */
static void put_checks_in_place(const char *stem) {
    char path[600], *text;
    size_t length;
    cupel_error err;
    cupel_arena *arena = cupel_arena_create(0);
    assert_non_null(arena);
    cupel_buffer out = {.arena = arena};
    snprintf(path, sizeof path, "%s.ll", stem);
    if (cupel_text_read(path, arena, &text, &length, &err) != CUPEL_OK ||
        cupel_emu_inline_write(text, &out, &err) != CUPEL_OK ||
        cupel_text_write(path, out.bytes, out.length, &err) != CUPEL_OK)
        fail_msg("%s", err.text);
    cupel_arena_free(arena);
}

static void compile(const char *file, const char *stem) {
    static const char *const front[] = {CUPEL_EMU_FRONT_END_FLAGS, CUPEL_EMU_MEANING_FLAGS,
                                        CUPEL_EMU_CHECK_FLAGS};
    static const char *const back[] = {CUPEL_EMU_BACK_END_FLAGS};
    char command[8192];
    snprintf(command, sizeof command, "clang -cc1");
    quote(command, sizeof command, front, sizeof front / sizeof front[0]);
    size_t used = strlen(command);
    snprintf(command + used, sizeof command - used,
             " -resource-dir \"$(clang -print-resource-dir)\" -internal-isystem \"$(clang "
             "-print-resource-dir)/include\" -internal-isystem /usr/include/x86_64-linux-gnu "
             "-internal-isystem /usr/include "
             "-I %s -I %s -emit-llvm -o %s.ll %s/%s",
             TEST_SOURCE_DIR, TEST_EMULATOR_DIR, stem, TEST_SOURCE_DIR, file);
    must_run(command);
    put_checks_in_place(stem);
    snprintf(command, sizeof command, "clang -cc1");
    quote(command, sizeof command, back, sizeof back / sizeof back[0]);
    used = strlen(command);
    snprintf(command + used, sizeof command - used, " -emit-obj -o %s.o %s.ll", stem, stem);
    must_run(command);
}

cupel_emu_module *candidate_load(const char *file) {
    static const char *const left[] = {"so", "o", "ll"};
    char stem[512], command[8192], path[600];
    snprintf(stem, sizeof stem, "%s/%s.%d", TEST_BINARY_DIR, file, (int)getpid());
    compile(file, stem);
    snprintf(command, sizeof command,
             "clang -O2 -fno-builtin -fPIC -shared -Wl,-z,now -I %s -o %s.so %s/mini_trace.c %s.o",
             TEST_EMULATOR_DIR, stem, TEST_SOURCE_DIR, stem);
    must_run(command);
    snprintf(path, sizeof path, "%s.so", stem);
    cupel_emu_module *module = NULL;
    cupel_error err;
    if (cupel_emu_module_load(path, &module, &err) != CUPEL_OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) { /* loaded and mapped; nothing stays behind */
        snprintf(path, sizeof path, "%s.%s", stem, left[i]);
        unlink(path);
    }
    return module;
}

int candidate_line(const char *file, const char *mark) {
    char path[600], text[512];
    snprintf(path, sizeof path, "%s/%s", TEST_SOURCE_DIR, file);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    int line = 0, found = 0;
    while (fgets(text, sizeof text, in) != NULL && ++line > 0) {
        const char *comment = strstr(text, "// ");
        if (comment != NULL && strstr(comment, mark) != NULL) found = line;
    }
    fclose(in);
    assert_int_not_equal(found, 0);
    return found;
}

float *field_buffer(field *f, int b) {
    return (float *)(void *)(f->bytes + FIELD_GUARD + (size_t)b * (FIELD_FLOATS * 4 + FIELD_GUARD));
}

static int locate(const void *self, const void *address, int64_t *offset) {
    const field *f = self;
    int64_t at = (const unsigned char *)address - f->bytes, best = INT64_MAX;
    int found = -1;
    if (at < 0 || at >= (int64_t)sizeof f->bytes) return -1;
    for (int b = 0; b < FIELD_BUFFERS; b++) {
        int64_t from = at - (FIELD_GUARD + (int64_t)b * (FIELD_FLOATS * 4 + FIELD_GUARD)),
                size = 4 * f->count[b];
        int64_t distance = from < 0 ? -from : from >= size ? from - size + 1 : 0;
        if (distance < best) best = distance, found = b, *offset = from;
    }
    return found;
}

void field_reset(field *f, int count0, int count1, int count2) {
    memset(f, 0, sizeof *f);
    memset(f->bytes, 0x5a, sizeof f->bytes);
    f->count[0] = count0, f->count[1] = count1, f->count[2] = count2;
    for (int b = 0; b < FIELD_BUFFERS; b++) {
        size_t start = (size_t)((unsigned char *)field_buffer(f, b) - f->bytes);
        for (size_t i = start; i < start + 4 * (size_t)f->count[b]; i++) {
            f->valid[i / 8] |= (uint8_t)(1 << i % 8);
            (b == 0 ? f->readable : f->writable)[i / 8] |= (uint8_t)(1 << i % 8);
        }
        for (int i = 0; i < f->count[b]; i++) field_buffer(f, b)[i] = b == 0 ? (float)i : -1;
    }
    f->memory = (cupel_emu_memory){f->bytes, sizeof f->bytes, f->valid, f->writable, f->readable, locate, f};
}

void field_run(field *f, cupel_emu_module *module, const char *entry, shape s, int argc,
               const void *const *args) {
    void *copies[16];
    uint64_t values[16] = {0};
    const cupel_emu_kernel *kernel = cupel_emu_module_kernel(module, entry);
    assert_non_null(kernel);
    assert_int_equal(kernel->param_count, argc);
    for (int i = 0; i < argc; i++) {
        memcpy(&values[i], args[i], kernel->params[i].size);
        copies[i] = &values[i];
    }
    cupel_emu_launch launch = {.kernel = kernel,
                               .args = copies,
                               .grid = {s.grid == 0 ? 1 : s.grid, 1, 1},
                               .block = {s.block == 0 ? 32 : s.block, 1, 1},
                               .dynamic_shared = s.shared,
                               .cooperative = s.cooperative};
    const uint64_t schedule = s.exact_schedule != 0 ? s.exact_schedule : cupel_schedule_nth(s.schedule);
    unsigned needs = CUPEL_EMU_CAREFUL, again;
    bool finished;
    do {
        cupel_emu_run_begin(module, &f->memory, schedule, needs, s.zero_poison ? 0 : 0xff,
                            s.steps == 0 ? 1000000 : s.steps, &f->seen);
        finished = cupel_emu_run_launch(&launch);
        again = cupel_emu_run_end(false);
        assert_false(again & needs);
        needs |= again;
    } while (again != 0);
    assert_int_equal(finished, f->seen.outcome == CUPEL_RUN_FINISHED);
}
