/* Files that a campaign keeps under its -o folder: DIR/<kind>/<contract id>/. What is written appears whole
 * or not at all, and what a killed process left half-written is swept up by the next one. */
#ifndef CUPEL_STORE_H
#define CUPEL_STORE_H

#include <stdbool.h>

#include "status.h"

enum { CUPEL_STORE_PATH = 2048 };

/* The folder's path: "corpus/id" where directory is "." or NULL, else "directory/corpus/id". false when it is
 * too long. */
bool cupel_store_folder(const char *directory, const char *kind, const char *contract_id, char *path,
                        size_t size);

/* Makes the folder and those above it that are missing. Fails with IO. */
CUPEL_MUST_USE cupel_code cupel_store_make(const char *path, cupel_error *err);

/* Removes the temporary files in folder of processes that are gone. */
void cupel_store_sweep(const char *folder);

/* Writes folder/name through a temporary file of this process; flushed: the bytes are on the disk before the
 * name is. The folder itself is flushed by cupel_store_flush. Fails with IO. */
CUPEL_MUST_USE cupel_code cupel_store_write(const char *folder, const char *name, const void *bytes,
                                            size_t length, bool flushed, cupel_error *err);

/* Puts the folder's names on the disk. */
void cupel_store_flush(const char *folder);

#endif
