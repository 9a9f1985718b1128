/* The protocol: bytes that never change, round trips, and what hostile records may not do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocol.h"

static void golden_header(void **state) {
    (void)state;
    uint8_t bytes[CUPEL_PROTOCOL_HEADER];
    cupel_protocol_put_header((cupel_header){CUPEL_MESSAGE_RUN, 0x0102}, bytes);
    static const uint8_t golden[] = {'C', 'P', 'W', 1, 2, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(bytes, golden, sizeof golden);
}

static void golden_run(void **state) {
    (void)state;
    cupel_run_command command = {.schedule = 0x1122334455667788,
                                 .poison = CUPEL_POISON_FINITE,
                                 .history = true,
                                 .recipe_size = 3,
                                 .recipe = {9, 8, 7}};
    uint8_t bytes[64];
    cupel_writer w = {.bytes = bytes, .capacity = sizeof bytes};
    cupel_protocol_put_run(&w, &command);
    static const uint8_t golden[] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 2, 0,
                                     0,    0,    1,    3,    0,    0,    0,    9,    8, 7};
    assert_int_equal(w.used, sizeof golden);
    assert_memory_equal(bytes, golden, sizeof golden);
}

static void golden_search(void **state) {
    (void)state;
    cupel_search_command command = {
        .engine = "draw", .seed = 1, .first = 2, .count = 3, .max_elements = 4, .start_count = 5};
    uint8_t bytes[64];
    cupel_writer w = {.bytes = bytes, .capacity = sizeof bytes};
    cupel_protocol_put_search(&w, &command);
    static const uint8_t golden[] = {'d', 'r', 'a', 'w', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
                                     0,   0,   0,   0,   0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0,
                                     0,   0,   4,   0,   0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0};
    assert_int_equal(w.used, sizeof golden);
    assert_memory_equal(bytes, golden, sizeof golden);
}

static void headers_are_checked(void **state) {
    (void)state;
    uint8_t bytes[CUPEL_PROTOCOL_HEADER];
    cupel_header header;
    cupel_protocol_put_header((cupel_header){CUPEL_MESSAGE_DONE, CUPEL_PROTOCOL_PAYLOAD_MAX}, bytes);
    assert_true(cupel_protocol_get_header(bytes, &header));
    cupel_protocol_put_header((cupel_header){CUPEL_MESSAGE_DONE, CUPEL_PROTOCOL_PAYLOAD_MAX + 1}, bytes);
    assert_false(cupel_protocol_get_header(bytes, &header));
    cupel_protocol_put_header((cupel_header){CUPEL_MESSAGE_DONE, UINT64_MAX}, bytes);
    assert_false(cupel_protocol_get_header(bytes, &header));
    cupel_protocol_put_header((cupel_header){CUPEL_MESSAGE_END, 0}, bytes);
    assert_false(cupel_protocol_get_header(bytes, &header));
    cupel_protocol_put_header((cupel_header){0, 0}, bytes);
    assert_false(cupel_protocol_get_header(bytes, &header));
    cupel_protocol_put_header((cupel_header){CUPEL_MESSAGE_DONE, 0}, bytes);
    bytes[3] = 2; /* another version */
    assert_false(cupel_protocol_get_header(bytes, &header));
}

static void open_survives_the_way(void **state) {
    (void)state;
    static cupel_open_command sent, got;
    static uint8_t bytes[CUPEL_PROTOCOL_COMMAND_MAX];
    sent = (cupel_open_command){.contract_path = "/a/k.cu",
                                .contract_id = "k",
                                .executor = "emu",
                                .cache = "/c",
                                .seconds_limit = 2.5,
                                .step_limit = 77,
                                .memory_limit = UINT64_C(3) << 40,
                                .define_count = 2,
                                .include_count = 1,
                                .defines = {"A=1", "B"},
                                .includes = {"/inc"}};
    cupel_writer w = {.bytes = bytes, .capacity = sizeof bytes};
    cupel_protocol_put_open(&w, &sent);
    assert_false(w.full);
    cupel_reader r = {.bytes = bytes, .size = w.used};
    assert_true(cupel_protocol_get_open(&r, &got));
    assert_memory_equal(&sent, &got, sizeof sent);
    /* The largest command that the limits allow fits. */
    sent.define_count = sent.include_count = CUPEL_PROTOCOL_TEXTS_MAX;
    w = (cupel_writer){.bytes = bytes, .capacity = sizeof bytes};
    cupel_protocol_put_open(&w, &sent);
    assert_false(w.full);
}

typedef struct observed {
    cupel_arena *arena;
    cupel_case c;
    cupel_observation seen;
    uint8_t bytes[CUPEL_PROTOCOL_OBSERVATION_MAX];
    size_t size;
} observed;

static unsigned char content[2][8] = {{1, 2, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12}};

static void make_observed(observed *o) {
    memset(o, 0, sizeof *o);
    o->arena = cupel_arena_create(0);
    o->c.buffer_count = 2;
    o->c.buffers[0].size = 8;
    o->c.buffers[1].size = 4;
    o->seen = (cupel_observation){.outcome = CUPEL_RUN_FINISHED,
                                  .text = "fine",
                                  .access_count = 1,
                                  .access_total = 40,
                                  .sanitized = true,
                                  .race_count = 1,
                                  .race_total = 5,
                                  .float_atomics = true,
                                  .steps = 12,
                                  .seconds = 0.5,
                                  .buffer_count = 2};
    o->seen.accesses[0] = (cupel_access){
        .kind = CUPEL_ACCESS_MISALIGNED_READ, .buffer = -1, .offset = -12, .size = 16, .count = 3};
    strcpy(o->seen.accesses[0].place.file, "k.cu");
    o->seen.races[0] = (cupel_race){
        .earlier.use = CUPEL_RACE_ATOMIC, .later.place.line = 31, .buffer = -1, .offset = -4, .marked = true};
    strcpy(o->seen.races[0].array, "tile");
    for (int b = 0; b < 2; b++)
        o->seen.buffers[b] = (cupel_buffer_after){.bytes = content[b],
                                                  .size = o->c.buffers[b].size,
                                                  .guard_after_damaged = b == 1,
                                                  .damage_offset = -b};
    cupel_writer w = {.bytes = o->bytes, .capacity = sizeof o->bytes};
    cupel_protocol_put_observation(&w, &o->seen);
    for (int b = 0; b < 2; b++) cupel_wire_put(&w, content[b], o->c.buffers[b].size);
    o->size = w.used;
}

static bool read_observed(observed *o, cupel_observation *out) {
    cupel_reader r = {.bytes = o->bytes, .size = o->size};
    return cupel_protocol_get_observation(&r, &o->c, o->arena, out);
}

static void observation_survives_the_way(void **state) {
    (void)state;
    static observed o;
    static cupel_observation got;
    make_observed(&o);
    assert_true(read_observed(&o, &got));
    assert_int_equal(got.outcome, CUPEL_RUN_FINISHED);
    assert_string_equal(got.text, "fine");
    assert_int_equal(got.access_total, 40);
    assert_int_equal(got.accesses[0].offset, -12);
    assert_int_equal(got.accesses[0].buffer, -1);
    assert_string_equal(got.accesses[0].place.file, "k.cu");
    assert_true(got.sanitized);
    assert_int_equal(got.race_total, 5);
    assert_int_equal(got.races[0].earlier.use, CUPEL_RACE_ATOMIC);
    assert_int_equal(got.races[0].later.place.line, 31);
    assert_int_equal(got.races[0].offset, -4);
    assert_string_equal(got.races[0].array, "tile");
    assert_true(got.races[0].marked);
    assert_true(got.float_atomics);
    assert_int_equal(got.steps, 12);
    assert_memory_equal(got.buffers[0].bytes, content[0], 8);
    assert_memory_equal(got.buffers[1].bytes, content[1], 4);
    assert_true(got.buffers[1].guard_after_damaged);
    assert_int_equal(got.buffers[1].damage_offset, -1);
    cupel_arena_free(o.arena);
}

/* Every shorter record is refused, and so is a longer one. */
static void cut_observations_are_refused(void **state) {
    (void)state;
    static observed o;
    static cupel_observation got;
    make_observed(&o);
    size_t whole = o.size;
    for (o.size = 0; o.size < whole; o.size++) assert_false(read_observed(&o, &got));
    o.size = whole + 1;
    assert_false(read_observed(&o, &got));
    cupel_arena_free(o.arena);
}

/* A record of another case, or one that claims other sizes, never becomes evidence. */
static void observations_of_other_cases_are_refused(void **state) {
    (void)state;
    static observed o;
    static cupel_observation got;
    make_observed(&o);
    o.c.buffers[1].size = 5;
    assert_false(read_observed(&o, &got));
    o.c.buffers[1].size = 4;
    o.c.buffer_count = 1;
    assert_false(read_observed(&o, &got));
    cupel_arena_free(o.arena);
}

/* Any bytes whatever: the reader may refuse or accept, but yields nothing out of range (and the sanitizers
 * stay silent). */
static void random_observations_are_harmless(void **state) {
    (void)state;
    static observed o;
    static cupel_observation got;
    make_observed(&o);
    cupel_random random = cupel_random_start(1, 99);
    static uint8_t whole[CUPEL_PROTOCOL_OBSERVATION_MAX];
    memcpy(whole, o.bytes, sizeof whole);
    for (int i = 0; i < 20000; i++) {
        memcpy(o.bytes, whole, o.size);
        for (int k = 0; k < 4; k++)
            o.bytes[cupel_random_below(&random, k < 2 ? 16 : o.size)] = (uint8_t)cupel_random_u64(&random);
        if (!read_observed(&o, &got)) continue;
        assert_in_range(got.outcome, 0, CUPEL_RUN_NOT_STARTED);
        assert_in_range(got.fault, 0, CUPEL_FAULT_COUNT - 1);
        assert_in_range(got.access_count, 0, CUPEL_ACCESS_MAX);
        assert_true(memchr(got.text, 0, sizeof got.text) != NULL);
        cupel_arena_reset(o.arena);
    }
    cupel_arena_free(o.arena);
}

static void suspect_survives_the_way(void **state) {
    (void)state;
    static cupel_suspect sent, got;
    static uint8_t bytes[CUPEL_PROTOCOL_SUSPECT_MAX];
    sent = (cupel_suspect){
        .n = 12345678901, .recipe_size = CUPEL_RECIPE_BYTES_MAX, .finding_count = CUPEL_CASE_FINDINGS_MAX};
    for (int i = 0; i < CUPEL_CASE_FINDINGS_MAX; i++) {
        sent.findings[i] = (cupel_finding){.kind = CUPEL_FINDING_BAD_ACCESS,
                                           .gate = CUPEL_GATE_RES_01,
                                           .standing = CUPEL_STANDING_PROOF,
                                           .index = -1,
                                           .output = -1,
                                           .has_access = true,
                                           .access = {.kind = CUPEL_ACCESS_MISALIGNED_WRITE, .buffer = 3}};
        strcpy(sent.findings[i].access.place.file, "some.cu");
        sent.findings[i].access.place.line = i;
    }
    cupel_writer w = {.bytes = bytes, .capacity = sizeof bytes};
    cupel_protocol_put_suspect(&w, &sent);
    assert_false(w.full); /* the largest suspect fits */
    cupel_reader r = {.bytes = bytes, .size = w.used};
    assert_true(cupel_protocol_get_suspect(&r, &got));
    assert_true(got.n == sent.n);
    for (int i = 0; i < CUPEL_CASE_FINDINGS_MAX; i++) {
        char a[160], b[160];
        cupel_finding_signature(&sent.findings[i], a, sizeof a);
        cupel_finding_signature(&got.findings[i], b, sizeof b);
        assert_string_equal(a, b);
        assert_int_equal(got.findings[i].index, -1);
        assert_int_equal(got.findings[i].output, -1);
    }
    bytes[8] = 0xff, bytes[9] = 0xff; /* a recipe longer than any */
    r = (cupel_reader){.bytes = bytes, .size = w.used};
    assert_false(cupel_protocol_get_suspect(&r, &got));
}

static void recipes_survive_the_way(void **state) {
    (void)state;
    static cupel_recipe_message got;
    static uint8_t recipe[CUPEL_RECIPE_BYTES_MAX], bytes[CUPEL_RECIPE_BYTES_MAX + 16];
    for (size_t i = 0; i < sizeof recipe; i++) recipe[i] = (uint8_t)(i * 7);
    static const uint32_t sizes[] = {0, 1, 300, CUPEL_RECIPE_BYTES_MAX};
    for (int i = 0; i < 4; i++) {
        cupel_writer w = {.bytes = bytes, .capacity = sizeof bytes};
        cupel_protocol_put_recipe(&w, (uint32_t)i, recipe, sizes[i]);
        assert_false(w.full);
        cupel_reader r = {.bytes = bytes, .size = w.used};
        assert_true(cupel_protocol_get_recipe(&r, &got));
        assert_int_equal(got.news, i);
        assert_int_equal(got.size, sizes[i]);
        assert_memory_equal(got.bytes, recipe, sizes[i]);
    }
}

/* A length is believed only where the bytes are there, no more and no less. */
static void hostile_recipes_are_refused(void **state) {
    (void)state;
    static cupel_recipe_message got;
    static uint8_t bytes[CUPEL_RECIPE_BYTES_MAX + 64];
    cupel_random random = cupel_random_start(2, 99);
    int sound = 0;
    for (int i = 0; i < 20000; i++) {
        size_t size = cupel_random_below(&random, 24);
        for (size_t b = 0; b < size; b++)
            bytes[b] = (uint8_t)cupel_random_below(&random, b == 4 ? 24 : b > 4 && b < 8 ? 2 : 256);
        cupel_reader r = {.bytes = bytes, .size = size};
        if (!cupel_protocol_get_recipe(&r, &got)) continue;
        assert_int_equal(got.size + 8, size);
        sound++;
    }
    assert_true(sound > 0);
    cupel_writer w = {.bytes = bytes, .capacity = 8};
    cupel_wire_put_u32(&w, 0);
    cupel_wire_put_u32(&w, CUPEL_RECIPE_BYTES_MAX + 1);
    cupel_reader r = {.bytes = bytes, .size = CUPEL_RECIPE_BYTES_MAX + 9};
    assert_false(cupel_protocol_get_recipe(&r, &got));
}

static void errors_survive_the_way(void **state) {
    (void)state;
    uint8_t bytes[2048];
    cupel_error sent, got;
    cupel_fail_at(&sent, CUPEL_MISMATCH, "k.cu", 3, 9, "expected int, found float");
    cupel_writer w = {.bytes = bytes, .capacity = sizeof bytes};
    cupel_protocol_put_error(&w, &sent);
    cupel_reader r = {.bytes = bytes, .size = w.used};
    assert_true(cupel_protocol_get_error(&r, &got));
    assert_int_equal(got.code, CUPEL_MISMATCH);
    assert_int_equal(got.line, 3);
    assert_int_equal(got.column, 9);
    assert_string_equal(got.file, "k.cu");
    assert_string_equal(got.text, sent.text);
    bytes[0] = CUPEL_OK; /* a failure that claims to be none */
    r = (cupel_reader){.bytes = bytes, .size = w.used};
    assert_true(cupel_protocol_get_error(&r, &got));
    assert_int_equal(got.code, CUPEL_WORKER);
}

static void commands_cross_a_socket(void **state) {
    (void)state;
    int fds[2];
    static uint8_t bytes[CUPEL_PROTOCOL_COMMAND_MAX];
    cupel_header header;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_true(cupel_protocol_send(fds[0], CUPEL_MESSAGE_RUN, "abc", 3));
    assert_true(cupel_protocol_receive(fds[1], &header, bytes));
    assert_int_equal(header.type, CUPEL_MESSAGE_RUN);
    assert_memory_equal(bytes, "abc", 3);
    uint8_t raw[CUPEL_PROTOCOL_HEADER]; /* longer than any command: refused before a byte of it is read */
    cupel_protocol_put_header((cupel_header){CUPEL_MESSAGE_RUN, CUPEL_PROTOCOL_COMMAND_MAX + 1}, raw);
    assert_int_equal(write(fds[0], raw, sizeof raw), sizeof raw);
    assert_false(cupel_protocol_receive(fds[1], &header, bytes));
    close(fds[0]);
    assert_false(cupel_protocol_receive(fds[1], &header, bytes));
    assert_false(cupel_protocol_send(fds[1], CUPEL_MESSAGE_DONE, NULL, 0)); /* no SIGPIPE */
    close(fds[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_header),
        cmocka_unit_test(golden_run),
        cmocka_unit_test(golden_search),
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(open_survives_the_way),
        cmocka_unit_test(observation_survives_the_way),
        cmocka_unit_test(cut_observations_are_refused),
        cmocka_unit_test(observations_of_other_cases_are_refused),
        cmocka_unit_test(random_observations_are_harmless),
        cmocka_unit_test(suspect_survives_the_way),
        cmocka_unit_test(recipes_survive_the_way),
        cmocka_unit_test(hostile_recipes_are_refused),
        cmocka_unit_test(errors_survive_the_way),
        cmocka_unit_test(commands_cross_a_socket),
    };
    return cmocka_run_group_tests_name("protocol", tests, NULL, NULL);
}
