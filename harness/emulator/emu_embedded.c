#include "emu_embedded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "text.h"

uint64_t cupel_emu_embedded_hash(void) {
    uint64_t hash = 0;
    for (const cupel_emu_embedded_file *f = cupel_emu_embedded_files; f->name; f++) {
        hash = XXH64(f->name, strlen(f->name), hash);
        hash = XXH64(f->start, (size_t)(f->stop - f->start), hash);
    }
    return hash;
}

static void remove_folder(const char *folder, cupel_arena *arena) {
    for (const cupel_emu_embedded_file *f = cupel_emu_embedded_files; f->name; f++) {
        const char *path = cupel_arena_printf(arena, "%s/%s", folder, f->name);
        if (path) unlink(path);
    }
    rmdir(folder);
}

cupel_code cupel_emu_embedded_unpack(const char *cache, cupel_arena *arena, const char **folder,
                                     cupel_error *err) {
    const char *target =
        cupel_arena_printf(arena, "%s/headers-%016llx", cache, (unsigned long long)cupel_emu_embedded_hash());
    char *building = cupel_arena_printf(arena, "%s/unpack-XXXXXX", cache);
    if (!target || !building) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    *folder = target;
    struct stat info;
    if (stat(target, &info) == 0 && S_ISDIR(info.st_mode)) return CUPEL_OK;
    if (!mkdtemp(building))
        return cupel_fail(err, CUPEL_IO, "cannot write to %s: %s", cache, strerror(errno));
    for (const cupel_emu_embedded_file *f = cupel_emu_embedded_files; f->name; f++) {
        const char *path = cupel_arena_printf(arena, "%s/%s", building, f->name);
        if (!path) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
        CUPEL_TRY(cupel_text_write(path, f->start, (size_t)(f->stop - f->start), err));
    }
    if (rename(building, target) != 0) {
        /* another process was faster: its copy is as good */
        remove_folder(building, arena);
        if (stat(target, &info) != 0)
            return cupel_fail(err, CUPEL_IO, "cannot write %s: %s", target, strerror(errno));
    }
    return CUPEL_OK;
}
