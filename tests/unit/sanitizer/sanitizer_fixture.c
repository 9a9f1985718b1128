#include "sanitizer_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu_compile.h"
#include "schedule.h"
#include "text.h"

void sanitizer_open_as(const char *file, bool strict, bool fused, bool debug, sanitizer_file *out) {
    char path[600], cache[] = "/tmp/cupel-sanitizer-test-XXXXXX", command[128];
    cupel_error err = {0};
    size_t length;
    memset(out, 0, sizeof *out);
    out->arena = cupel_arena_create(0);
    assert_non_null(out->arena);
    assert_non_null(mkdtemp(cache));
    snprintf(path, sizeof path, "%s/%s", TEST_SOURCE_DIR, file);
    if (cupel_text_read(path, out->arena, &out->text, &length, &err) != CUPEL_OK) fail_msg("%s", err.text);
    cupel_source *source;
    if (cupel_source_load(path, NULL, out->arena, &source, &err) != CUPEL_OK) fail_msg("%s", err.text);
    out->kernel_count = source->kernel_count;
    assert_in_range(out->kernel_count, 1, sizeof out->kernels / sizeof out->kernels[0]);
    for (int k = 0; k < out->kernel_count; k++) out->kernels[k] = source->kernels[k].name;
    cupel_emu_compile_request request = {.source = source,
                                         .entry_count = out->kernel_count,
                                         .entries = out->kernels,
                                         .cache = cache,
                                         .strict = strict,
                                         .fused = fused,
                                         .debug = debug};
    const char *object;
    if (cupel_emu_compile(&request, out->arena, &object, &err) != CUPEL_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    if (cupel_emu_module_load(object, &out->module, &err) != CUPEL_OK) fail_msg("%s", err.text);
    snprintf(command, sizeof command, "rm -rf '%s'", cache); /* loaded and mapped */
    assert_int_equal(system(command), 0);
}

void sanitizer_open(const char *file, sanitizer_file *out) {
    sanitizer_open_as(file, true, false, false, out);
}

void sanitizer_close(sanitizer_file *file) {
    cupel_emu_module_close(file->module);
    cupel_arena_free(file->arena);
}

void sanitizer_run(const sanitizer_file *file, field *f, const char *kernel, uint64_t schedule,
                   bool cooperative) {
    float *in, *out, *scratch;
    field_reset(f, 256, 1024, 256);
    in = field_buffer(f, 0), out = field_buffer(f, 1), scratch = field_buffer(f, 2);
    memset(scratch, 0, 1024);
    for (int i = 0; i < 1024; i++) f->readable[((unsigned char *)scratch - f->bytes + i) / 8] = 0xff;
    field_run(f, file->module, kernel,
              (shape){.grid = 2,
                      .block = 128,
                      .shared = 512,
                      .cooperative = cooperative,
                      .exact_schedule = cupel_schedule_nth(schedule)},
              3, (const void *[]){&in, &out, &scratch});
}

int sanitizer_line(const sanitizer_file *file, const char *mark) {
    const char *found = strstr(file->text, mark);
    if (found == NULL) fail_msg("no line is marked '%s'", mark);
    int line = 1;
    for (const char *c = file->text; c < found; c++) line += *c == '\n';
    return line;
}
