/* A candidate's shared object in this process: what it exports, which of its memory its kernels may touch. */
#ifndef CUPEL_EMU_LOAD_H
#define CUPEL_EMU_LOAD_H

#include <stdbool.h>

#include "emu_place.h"
#include "emu_runtime.h"

const cupel_emu_candidate_t *cupel_emu_module_candidate(const cupel_emu_module *module);
const char *cupel_emu_module_path(const cupel_emu_module *module);
/* Was it compiled for the sanitizer? */
bool cupel_emu_module_is_strict(const cupel_emu_module *module);
/* Where the object's address 0 lies. */
uintptr_t cupel_emu_module_base(const cupel_emu_module *module);

/* Does the access stay inside the candidate's own variables (or, for reads, constants)? Its registers, edge
 * guards and the like are not its own. */
bool cupel_emu_module_owns(const cupel_emu_module *module, uintptr_t address, size_t size, bool write);
/* Inside the object at all? */
bool cupel_emu_module_owns_pages(const cupel_emu_module *module, uintptr_t address, size_t size);
/* The array in static shared memory that begins last at or before address, as far as symbols tell: its name
 * (borrowed, not terminated), its bytes, and how far behind its start address lies. False: none. */
bool cupel_emu_module_shared_array(const cupel_emu_module *module, uintptr_t address, const char **name,
                                   int *length, size_t *size, size_t *offset);
/* The bytes of static shared memory that are red zones (emu_red_zone.h), one bit a byte from its start, with
 * room behind the last as in cupel_emu_memory; NULL: none. */
const uint8_t *cupel_emu_module_red_zones(const cupel_emu_module *module);
bool cupel_emu_module_is_code(const cupel_emu_module *module, uintptr_t address);
/* Gives every variable the value that it had when the object was loaded. */
void cupel_emu_module_restore(cupel_emu_module *module);
/* A hash of what the candidate's own variables hold. */
uint64_t cupel_emu_module_hash(const cupel_emu_module *module);
/* Adds the edges taken since the last call to the module's coverage. */
void cupel_emu_module_gather(cupel_emu_module *module);

/* The place cache of emu_place.c. */
cupel_emu_places *cupel_emu_module_places(cupel_emu_module *module);

#endif
