/* Little-endian reading and writing of records. A reader that runs past its end, or meets a value out of its
 * range, becomes bad and yields zeros from then on, so that a whole record is read first and asked once
 * whether it was sound. */
#ifndef CUPEL_WIRE_H
#define CUPEL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cupel_writer {
    uint8_t *bytes;
    size_t capacity, used;
    bool full; /* something did not fit */
} cupel_writer;

typedef struct cupel_reader {
    const uint8_t *bytes;
    size_t size, at;
    bool bad;
} cupel_reader;

void cupel_wire_put(cupel_writer *w, const void *bytes, size_t size);
void cupel_wire_put_u8(cupel_writer *w, uint8_t value);
void cupel_wire_put_u32(cupel_writer *w, uint32_t value);
void cupel_wire_put_u64(cupel_writer *w, uint64_t value);
void cupel_wire_put_f64(cupel_writer *w, double value);
/* A string as a field of fixed width, padded with zeros; cut to width - 1 bytes. */
void cupel_wire_put_text(cupel_writer *w, const char *text, size_t width);

void cupel_wire_get(cupel_reader *r, void *bytes, size_t size);
uint8_t cupel_wire_get_u8(cupel_reader *r);
uint32_t cupel_wire_get_u32(cupel_reader *r);
uint64_t cupel_wire_get_u64(cupel_reader *r);
double cupel_wire_get_f64(cupel_reader *r);
bool cupel_wire_get_bool(cupel_reader *r);
/* An enumerator below count; anything else makes the reader bad. */
uint32_t cupel_wire_get_enum(cupel_reader *r, uint32_t count);
/* A field of fixed width into text, which has width bytes; always terminated. */
void cupel_wire_get_text(cupel_reader *r, char *text, size_t width);
/* size bytes in place, NULL when they are not there. */
const uint8_t *cupel_wire_get_bytes(cupel_reader *r, size_t size);
/* Sound, and nothing left over. */
bool cupel_wire_done(const cupel_reader *r);

#endif
