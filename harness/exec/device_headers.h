/* The texts that every source for a GPU is compiled with, carried inside this program. */
#ifndef CUPEL_DEVICE_HEADERS_H
#define CUPEL_DEVICE_HEADERS_H

/* Terminated. prelude: before the author's text. signature: behind it (device/cupel_device_signature.h).
 * helpers: a source of its own, with the kernels that the executor launches itself. */
extern const char cupel_device_prelude[], cupel_device_signature[], cupel_device_helpers[];

#endif
