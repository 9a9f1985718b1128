#include "protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

void cupel_protocol_put_header(cupel_header header, uint8_t bytes[CUPEL_PROTOCOL_HEADER]) {
    cupel_writer w = {.bytes = bytes, .capacity = CUPEL_PROTOCOL_HEADER};
    cupel_wire_put_u32(&w, CUPEL_PROTOCOL_MAGIC);
    cupel_wire_put_u32(&w, header.type);
    cupel_wire_put_u64(&w, header.length);
}

bool cupel_protocol_get_header(const uint8_t bytes[CUPEL_PROTOCOL_HEADER], cupel_header *out) {
    cupel_reader r = {.bytes = bytes, .size = CUPEL_PROTOCOL_HEADER};
    uint32_t magic = cupel_wire_get_u32(&r);
    out->type = (cupel_message_type)cupel_wire_get_enum(&r, CUPEL_MESSAGE_END);
    out->length = cupel_wire_get_u64(&r);
    return cupel_wire_done(&r) && magic == CUPEL_PROTOCOL_MAGIC && out->type >= CUPEL_MESSAGE_OPEN &&
           out->length <= CUPEL_PROTOCOL_PAYLOAD_MAX;
}

/* ---- commands ---- */

void cupel_protocol_put_open(cupel_writer *w, const cupel_open_command *command) {
    cupel_wire_put_text(w, command->contract_path, sizeof command->contract_path);
    cupel_wire_put_text(w, command->contract_id, sizeof command->contract_id);
    cupel_wire_put_text(w, command->executor, sizeof command->executor);
    cupel_wire_put_text(w, command->cache, sizeof command->cache);
    cupel_wire_put_f64(w, command->seconds_limit);
    cupel_wire_put_u64(w, command->step_limit);
    cupel_wire_put_u64(w, command->memory_limit);
    cupel_wire_put_u8(w, command->sanitize);
    cupel_wire_put_u8(w, command->whole_grids);
    cupel_wire_put_u32(w, (uint32_t)command->define_count);
    cupel_wire_put_u32(w, (uint32_t)command->include_count);
    for (int i = 0; i < command->define_count; i++)
        cupel_wire_put_text(w, command->defines[i], sizeof command->defines[i]);
    for (int i = 0; i < command->include_count; i++)
        cupel_wire_put_text(w, command->includes[i], sizeof command->includes[i]);
}

bool cupel_protocol_get_open(cupel_reader *r, cupel_open_command *out) {
    cupel_wire_get_text(r, out->contract_path, sizeof out->contract_path);
    cupel_wire_get_text(r, out->contract_id, sizeof out->contract_id);
    cupel_wire_get_text(r, out->executor, sizeof out->executor);
    cupel_wire_get_text(r, out->cache, sizeof out->cache);
    out->seconds_limit = cupel_wire_get_f64(r);
    out->step_limit = cupel_wire_get_u64(r);
    out->memory_limit = cupel_wire_get_u64(r);
    out->sanitize = cupel_wire_get_bool(r);
    out->whole_grids = cupel_wire_get_bool(r);
    out->define_count = (int)cupel_wire_get_enum(r, CUPEL_PROTOCOL_TEXTS_MAX + 1);
    out->include_count = (int)cupel_wire_get_enum(r, CUPEL_PROTOCOL_TEXTS_MAX + 1);
    for (int i = 0; i < out->define_count; i++)
        cupel_wire_get_text(r, out->defines[i], sizeof out->defines[i]);
    for (int i = 0; i < out->include_count; i++)
        cupel_wire_get_text(r, out->includes[i], sizeof out->includes[i]);
    return cupel_wire_done(r);
}

static void put_recipe(cupel_writer *w, const uint8_t *recipe, uint32_t size) {
    cupel_wire_put_u32(w, size);
    cupel_wire_put(w, recipe, size);
}

static uint32_t get_recipe(cupel_reader *r, uint8_t recipe[CUPEL_RECIPE_BYTES_MAX]) {
    uint32_t size = cupel_wire_get_enum(r, CUPEL_RECIPE_BYTES_MAX + 1);
    cupel_wire_get(r, recipe, size);
    return size;
}

static cupel_poison get_poison(cupel_reader *r) {
    uint32_t poison = cupel_wire_get_u32(r);
    if (poison != CUPEL_POISON_NAN && poison != CUPEL_POISON_FINITE) r->bad = true;
    return poison == CUPEL_POISON_FINITE ? CUPEL_POISON_FINITE : CUPEL_POISON_NAN;
}

void cupel_protocol_put_run(cupel_writer *w, const cupel_run_command *command) {
    cupel_wire_put_u64(w, command->schedule);
    cupel_wire_put_u32(w, command->poison);
    cupel_wire_put_u8(w, command->history);
    put_recipe(w, command->recipe, command->recipe_size);
}

bool cupel_protocol_get_run(cupel_reader *r, cupel_run_command *out) {
    out->schedule = cupel_wire_get_u64(r);
    out->poison = get_poison(r);
    out->history = cupel_wire_get_bool(r);
    out->recipe_size = get_recipe(r, out->recipe);
    return cupel_wire_done(r);
}

void cupel_protocol_put_search(cupel_writer *w, const cupel_search_command *command) {
    cupel_wire_put_text(w, command->engine, sizeof command->engine);
    cupel_wire_put_u64(w, command->seed);
    cupel_wire_put_u64(w, command->first);
    cupel_wire_put_u64(w, command->count);
    cupel_wire_put_u64(w, (uint64_t)command->max_elements);
    cupel_wire_put_u64(w, command->start_count);
}

bool cupel_protocol_get_search(cupel_reader *r, cupel_search_command *out) {
    cupel_wire_get_text(r, out->engine, sizeof out->engine);
    out->seed = cupel_wire_get_u64(r);
    out->first = cupel_wire_get_u64(r);
    out->count = cupel_wire_get_u64(r);
    out->max_elements = (int64_t)cupel_wire_get_u64(r);
    out->start_count = cupel_wire_get_u64(r);
    return cupel_wire_done(r);
}

void cupel_protocol_put_recipe(cupel_writer *w, uint32_t news, const uint8_t *recipe, uint32_t size) {
    cupel_wire_put_u32(w, news);
    put_recipe(w, recipe, size);
}

bool cupel_protocol_get_recipe(cupel_reader *r, cupel_recipe_message *out) {
    memset(out, 0, sizeof *out);
    out->news = cupel_wire_get_u32(r);
    out->size = get_recipe(r, out->bytes);
    return cupel_wire_done(r);
}

/* ---- answers ---- */

void cupel_protocol_put_error(cupel_writer *w, const cupel_error *err) {
    cupel_wire_put_u32(w, err->code);
    cupel_wire_put_text(w, err->file, sizeof err->file);
    cupel_wire_put_u32(w, (uint32_t)err->line);
    cupel_wire_put_u32(w, (uint32_t)err->column);
    cupel_wire_put_text(w, err->text, sizeof err->text);
}

bool cupel_protocol_get_error(cupel_reader *r, cupel_error *out) {
    out->code = (cupel_code)cupel_wire_get_enum(r, CUPEL_WORKER + 1);
    cupel_wire_get_text(r, out->file, sizeof out->file);
    out->line = (int)cupel_wire_get_u32(r);
    out->column = (int)cupel_wire_get_u32(r);
    cupel_wire_get_text(r, out->text, sizeof out->text);
    if (out->code == CUPEL_OK) out->code = CUPEL_WORKER;
    return cupel_wire_done(r);
}

static void put_place(cupel_writer *w, const cupel_place *place) {
    cupel_wire_put_text(w, place->function, sizeof place->function);
    cupel_wire_put_text(w, place->file, sizeof place->file);
    cupel_wire_put_u32(w, (uint32_t)place->line);
    for (int i = 0; i < 3; i++) cupel_wire_put_u32(w, place->block[i]);
    for (int i = 0; i < 3; i++) cupel_wire_put_u32(w, place->thread[i]);
}

static void get_place(cupel_reader *r, cupel_place *out) {
    cupel_wire_get_text(r, out->function, sizeof out->function);
    cupel_wire_get_text(r, out->file, sizeof out->file);
    out->line = (int)cupel_wire_get_u32(r);
    for (int i = 0; i < 3; i++) out->block[i] = cupel_wire_get_u32(r);
    for (int i = 0; i < 3; i++) out->thread[i] = cupel_wire_get_u32(r);
}

static void put_access(cupel_writer *w, const cupel_access *access) {
    cupel_wire_put_u32(w, access->kind);
    cupel_wire_put_u32(w, access->space);
    put_place(w, &access->place);
    cupel_wire_put_u32(w, (uint32_t)access->buffer);
    cupel_wire_put_u64(w, (uint64_t)access->offset);
    cupel_wire_put_u32(w, (uint32_t)access->size);
    cupel_wire_put_u64(w, (uint64_t)access->count);
}

static void get_access(cupel_reader *r, cupel_access *out) {
    out->kind = (cupel_access_kind)cupel_wire_get_enum(r, CUPEL_ACCESS_KIND_COUNT);
    out->space = (cupel_space)cupel_wire_get_enum(r, CUPEL_SPACE_LOCAL + 1);
    get_place(r, &out->place);
    out->buffer = (int)cupel_wire_get_u32(r);
    out->offset = (int64_t)cupel_wire_get_u64(r);
    out->size = (int32_t)cupel_wire_get_u32(r);
    out->count = (int64_t)cupel_wire_get_u64(r);
    if (out->buffer < -1 || out->buffer >= CUPEL_BUFFER_MAX) r->bad = true;
}

static void put_race(cupel_writer *w, const cupel_race *race) {
    const cupel_race_side *const sides[] = {&race->earlier, &race->later};
    for (int i = 0; i < 2; i++) {
        cupel_wire_put_u32(w, sides[i]->use);
        put_place(w, &sides[i]->place);
    }
    cupel_wire_put_u32(w, race->space);
    cupel_wire_put_u32(w, (uint32_t)race->buffer);
    cupel_wire_put_u64(w, (uint64_t)race->offset);
    cupel_wire_put_u32(w, (uint32_t)race->size);
    cupel_wire_put_text(w, race->array, sizeof race->array);
    cupel_wire_put_u8(w, race->marked);
    cupel_wire_put_u64(w, (uint64_t)race->count);
}

static void get_race(cupel_reader *r, cupel_race *out) {
    cupel_race_side *const sides[] = {&out->earlier, &out->later};
    for (int i = 0; i < 2; i++) {
        sides[i]->use = (cupel_race_use)cupel_wire_get_enum(r, CUPEL_RACE_USE_COUNT);
        get_place(r, &sides[i]->place);
    }
    out->space = (cupel_space)cupel_wire_get_enum(r, CUPEL_SPACE_LOCAL + 1);
    out->buffer = (int)cupel_wire_get_u32(r);
    out->offset = (int64_t)cupel_wire_get_u64(r);
    out->size = (int32_t)cupel_wire_get_u32(r);
    cupel_wire_get_text(r, out->array, sizeof out->array);
    out->marked = cupel_wire_get_bool(r);
    out->count = (int64_t)cupel_wire_get_u64(r);
    if (out->buffer < -1 || out->buffer >= CUPEL_BUFFER_MAX) r->bad = true;
}

void cupel_protocol_put_observation(cupel_writer *w, const cupel_observation *seen) {
    cupel_wire_put_u32(w, seen->outcome);
    cupel_wire_put_u32(w, seen->fault);
    cupel_wire_put_u32(w, (uint32_t)seen->signal);
    put_place(w, &seen->place);
    cupel_wire_put_text(w, seen->text, sizeof seen->text);
    cupel_wire_put_u32(w, (uint32_t)seen->access_count);
    cupel_wire_put_u64(w, (uint64_t)seen->access_total);
    for (int i = 0; i < seen->access_count; i++) put_access(w, &seen->accesses[i]);
    cupel_wire_put_u8(w, seen->sanitized);
    cupel_wire_put_u32(w, (uint32_t)seen->race_count);
    cupel_wire_put_u64(w, (uint64_t)seen->race_total);
    for (int i = 0; i < seen->race_count; i++) put_race(w, &seen->races[i]);
    cupel_wire_put_u8(w, seen->float_atomics);
    cupel_wire_put_u64(w, seen->steps);
    cupel_wire_put_f64(w, seen->seconds);
    cupel_wire_put_u32(w, (uint32_t)seen->buffer_count);
    for (int b = 0; b < seen->buffer_count; b++) {
        cupel_wire_put_u64(w, seen->buffers[b].size);
        cupel_wire_put_u8(w, seen->buffers[b].guard_before_damaged);
        cupel_wire_put_u8(w, seen->buffers[b].guard_after_damaged);
        cupel_wire_put_u64(w, (uint64_t)seen->buffers[b].damage_offset);
        cupel_wire_put_u8(w, seen->buffers[b].reached != NULL);
    }
}

static size_t reached_size(const cupel_buffer_after *buffer) {
    return (buffer->size + 7) / 8;
}

static void get_buffer(cupel_reader *r, cupel_buffer_after *out, bool *reached) {
    out->size = (size_t)cupel_wire_get_u64(r);
    out->guard_before_damaged = cupel_wire_get_bool(r);
    out->guard_after_damaged = cupel_wire_get_bool(r);
    out->damage_offset = (int64_t)cupel_wire_get_u64(r);
    *reached = cupel_wire_get_bool(r);
}

static bool get_contents(cupel_reader *r, const cupel_case *c, const bool *reached, cupel_arena *arena,
                         cupel_observation *out) {
    for (int b = 0; b < out->buffer_count; b++) {
        cupel_buffer_after *buffer = &out->buffers[b];
        if (buffer->size != c->buffers[b].size) return false;
        const uint8_t *from = cupel_wire_get_bytes(r, buffer->size);
        buffer->bytes = cupel_arena_raw(arena, buffer->size + 1, 1);
        if (!from || !buffer->bytes) return false;
        if (buffer->size) memcpy(buffer->bytes, from, buffer->size);
        if (!reached[b]) continue;
        from = cupel_wire_get_bytes(r, reached_size(buffer));
        buffer->reached = cupel_arena_raw(arena, reached_size(buffer) + 1, 1);
        if (!from || !buffer->reached) return false;
        if (buffer->size) memcpy(buffer->reached, from, reached_size(buffer));
    }
    return true;
}

bool cupel_protocol_get_observation(cupel_reader *r, const cupel_case *c, cupel_arena *arena,
                                    cupel_observation *out) {
    memset(out, 0, sizeof *out);
    out->outcome = (cupel_outcome)cupel_wire_get_enum(r, CUPEL_RUN_NOT_STARTED + 1);
    out->fault = (cupel_fault)cupel_wire_get_enum(r, CUPEL_FAULT_COUNT);
    out->signal = (int)cupel_wire_get_u32(r);
    get_place(r, &out->place);
    cupel_wire_get_text(r, out->text, sizeof out->text);
    out->access_count = (int)cupel_wire_get_enum(r, CUPEL_ACCESS_MAX + 1);
    out->access_total = (int64_t)cupel_wire_get_u64(r);
    for (int i = 0; i < out->access_count; i++) get_access(r, &out->accesses[i]);
    out->sanitized = cupel_wire_get_bool(r);
    out->race_count = (int)cupel_wire_get_enum(r, CUPEL_RACE_MAX + 1);
    out->race_total = (int64_t)cupel_wire_get_u64(r);
    for (int i = 0; i < out->race_count; i++) get_race(r, &out->races[i]);
    out->float_atomics = cupel_wire_get_bool(r);
    out->steps = cupel_wire_get_u64(r);
    out->seconds = cupel_wire_get_f64(r);
    out->buffer_count = (int)cupel_wire_get_enum(r, CUPEL_BUFFER_MAX + 1);
    bool reached[CUPEL_BUFFER_MAX];
    for (int b = 0; b < out->buffer_count; b++) get_buffer(r, &out->buffers[b], &reached[b]);
    if (r->bad) return false;
    bool finished = out->outcome == CUPEL_RUN_FINISHED || out->outcome == CUPEL_RUN_SKIPPED;
    if (out->buffer_count != c->buffer_count && (finished || out->buffer_count)) return false;
    return get_contents(r, c, reached, arena, out) && cupel_wire_done(r);
}

static void put_finding(cupel_writer *w, const cupel_finding *finding) {
    cupel_wire_put_u32(w, finding->gate);
    cupel_wire_put_u32(w, finding->kind);
    cupel_wire_put_u32(w, finding->standing);
    cupel_wire_put_u32(w, (uint32_t)finding->output);
    cupel_wire_put_text(w, finding->output_name, sizeof finding->output_name);
    cupel_wire_put_u64(w, (uint64_t)finding->index);
    cupel_wire_put_u32(w, finding->type);
    cupel_wire_put_u64(w, finding->got_bits);
    cupel_wire_put_f64(w, finding->ratio);
    cupel_wire_put_u32(w, finding->fault);
    cupel_wire_put_u32(w, (uint32_t)finding->signal);
    cupel_wire_put_u8(w, finding->has_access);
    put_access(w, &finding->access);
    put_place(w, &finding->place);
    cupel_wire_put_text(w, finding->text, sizeof finding->text);
}

static void get_finding(cupel_reader *r, cupel_finding *out) {
    out->gate = (cupel_gate)cupel_wire_get_enum(r, CUPEL_GATE_COUNT);
    out->kind = (cupel_finding_kind)cupel_wire_get_enum(r, CUPEL_FINDING_KIND_COUNT);
    out->standing = (cupel_standing)cupel_wire_get_enum(r, CUPEL_STANDING_PROOF + 1);
    out->output = (int)cupel_wire_get_u32(r);
    cupel_wire_get_text(r, out->output_name, sizeof out->output_name);
    out->index = (int64_t)cupel_wire_get_u64(r);
    out->type = (cupel_dtype)cupel_wire_get_enum(r, CUPEL_DTYPE_COUNT);
    out->got_bits = cupel_wire_get_u64(r);
    out->ratio = cupel_wire_get_f64(r);
    out->fault = (cupel_fault)cupel_wire_get_enum(r, CUPEL_FAULT_COUNT);
    out->signal = (int)cupel_wire_get_u32(r);
    out->has_access = cupel_wire_get_bool(r);
    get_access(r, &out->access);
    get_place(r, &out->place);
    cupel_wire_get_text(r, out->text, sizeof out->text);
    out->run_a.index = out->run_b.index = -1; /* the runs themselves do not travel */
}

void cupel_protocol_put_suspect(cupel_writer *w, const cupel_suspect *suspect) {
    cupel_wire_put_u64(w, suspect->n);
    put_recipe(w, suspect->recipe, suspect->recipe_size);
    cupel_wire_put_u32(w, (uint32_t)suspect->finding_count);
    for (int i = 0; i < suspect->finding_count; i++) put_finding(w, &suspect->findings[i]);
}

bool cupel_protocol_get_suspect(cupel_reader *r, cupel_suspect *out) {
    memset(out, 0, sizeof *out);
    out->n = cupel_wire_get_u64(r);
    out->recipe_size = get_recipe(r, out->recipe);
    out->finding_count = (int)cupel_wire_get_enum(r, CUPEL_CASE_FINDINGS_MAX + 1);
    for (int i = 0; i < out->finding_count; i++) get_finding(r, &out->findings[i]);
    return cupel_wire_done(r);
}

/* ---- the stream ---- */

static bool send_all(int fd, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    while (size) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int fd, void *bytes, size_t size) {
    uint8_t *at = bytes;
    while (size) {
        ssize_t got = recv(fd, at, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

bool cupel_protocol_send(int fd, cupel_message_type type, const void *payload, size_t size) {
    uint8_t header[CUPEL_PROTOCOL_HEADER];
    cupel_protocol_put_header((cupel_header){type, size}, header);
    return send_all(fd, header, sizeof header) && send_all(fd, payload, size);
}

bool cupel_protocol_send_observation(int fd, const cupel_observation *observation) {
    uint8_t header[CUPEL_PROTOCOL_HEADER], record[CUPEL_PROTOCOL_OBSERVATION_MAX];
    cupel_writer w = {.bytes = record, .capacity = sizeof record};
    cupel_protocol_put_observation(&w, observation);
    if (w.full) return false;
    uint64_t length = w.used;
    for (int b = 0; b < observation->buffer_count; b++) {
        const cupel_buffer_after *buffer = &observation->buffers[b];
        length += buffer->size + (buffer->reached ? reached_size(buffer) : 0);
    }
    cupel_protocol_put_header((cupel_header){CUPEL_MESSAGE_OBSERVED, length}, header);
    if (!send_all(fd, header, sizeof header) || !send_all(fd, record, w.used)) return false;
    for (int b = 0; b < observation->buffer_count; b++) {
        const cupel_buffer_after *buffer = &observation->buffers[b];
        if (!send_all(fd, buffer->bytes, buffer->size)) return false;
        if (buffer->reached && !send_all(fd, buffer->reached, reached_size(buffer))) return false;
    }
    return true;
}

bool cupel_protocol_receive(int fd, cupel_header *header, uint8_t *bytes) {
    uint8_t raw[CUPEL_PROTOCOL_HEADER];
    return receive_all(fd, raw, sizeof raw) && cupel_protocol_get_header(raw, header) &&
           header->length <= CUPEL_PROTOCOL_COMMAND_MAX && receive_all(fd, bytes, (size_t)header->length);
}
