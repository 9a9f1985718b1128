#include "wire.h"

#include <string.h>

void cupel_wire_put(cupel_writer *w, const void *bytes, size_t size) {
    if (w->full || size > w->capacity - w->used) {
        w->full = true;
        return;
    }
    if (size) memcpy(w->bytes + w->used, bytes, size);
    w->used += size;
}

void cupel_wire_put_u8(cupel_writer *w, uint8_t value) {
    cupel_wire_put(w, &value, 1);
}

static void put_little(cupel_writer *w, uint64_t value, size_t size) {
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    cupel_wire_put(w, bytes, size);
}

void cupel_wire_put_u32(cupel_writer *w, uint32_t value) {
    put_little(w, value, 4);
}
void cupel_wire_put_u64(cupel_writer *w, uint64_t value) {
    put_little(w, value, 8);
}

void cupel_wire_put_f64(cupel_writer *w, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    cupel_wire_put_u64(w, bits);
}

void cupel_wire_put_text(cupel_writer *w, const char *text, size_t width) {
    size_t length = strnlen(text, width - 1);
    cupel_wire_put(w, text, length);
    for (size_t i = length; i < width; i++) cupel_wire_put_u8(w, 0);
}

const uint8_t *cupel_wire_get_bytes(cupel_reader *r, size_t size) {
    if (r->bad || size > r->size - r->at) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *bytes = r->bytes + r->at;
    r->at += size;
    return bytes;
}

void cupel_wire_get(cupel_reader *r, void *bytes, size_t size) {
    const uint8_t *from = cupel_wire_get_bytes(r, size);
    if (!size) return;
    if (from)
        memcpy(bytes, from, size);
    else
        memset(bytes, 0, size);
}

static uint64_t get_little(cupel_reader *r, size_t size) {
    uint8_t bytes[8] = {0};
    cupel_wire_get(r, bytes, size);
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint8_t cupel_wire_get_u8(cupel_reader *r) {
    return (uint8_t)get_little(r, 1);
}
uint32_t cupel_wire_get_u32(cupel_reader *r) {
    return (uint32_t)get_little(r, 4);
}
uint64_t cupel_wire_get_u64(cupel_reader *r) {
    return get_little(r, 8);
}

double cupel_wire_get_f64(cupel_reader *r) {
    uint64_t bits = cupel_wire_get_u64(r);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool cupel_wire_get_bool(cupel_reader *r) {
    return cupel_wire_get_u8(r) != 0;
}

uint32_t cupel_wire_get_enum(cupel_reader *r, uint32_t count) {
    uint32_t value = cupel_wire_get_u32(r);
    if (value < count) return value;
    r->bad = true;
    return 0;
}

void cupel_wire_get_text(cupel_reader *r, char *text, size_t width) {
    cupel_wire_get(r, text, width);
    text[width - 1] = 0;
}

bool cupel_wire_done(const cupel_reader *r) {
    return !r->bad && r->at == r->size;
}
