#include "emu_embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

uint64_t cupel_emu_embedded_hash(void) {
    uint64_t hash = 0;
    for (const cupel_emu_embedded_file *f = cupel_emu_embedded_files; f->name; f++) {
        hash = XXH64(f->name, strlen(f->name), hash);
        hash = XXH64(f->start, (size_t)(f->stop - f->start), hash);
    }
    return hash;
}

/* The folder of a file, below the one of all; NULL where that is it, or there is no memory. */
static const char *folder_of(const char *folder, const cupel_emu_embedded_file *f, cupel_arena *arena) {
    const char *slash = strchr(f->name, '/');
    return slash ? cupel_arena_printf(arena, "%s/%.*s", folder, (int)(slash - f->name), f->name) : NULL;
}

static void remove_folder(const char *folder, cupel_arena *arena) {
    for (const cupel_emu_embedded_file *f = cupel_emu_embedded_files; f->name; f++) {
        const char *path = cupel_arena_printf(arena, "%s/%s", folder, f->name);
        if (path) unlink(path);
    }
    for (const cupel_emu_embedded_file *f = cupel_emu_embedded_files; f->name; f++) {
        const char *below = folder_of(folder, f, arena);
        if (below) rmdir(below);
    }
    rmdir(folder);
}

static cupel_code make_folders(const char *folder, cupel_arena *arena, cupel_error *err) {
    for (const cupel_emu_embedded_file *f = cupel_emu_embedded_files; f->name; f++) {
        const char *below = folder_of(folder, f, arena);
        if (below && mkdir(below, 0755) != 0 && errno != EEXIST)
            return cupel_fail(err, CUPEL_IO, "cannot make the folder %s: %s", below, strerror(errno));
    }
    return CUPEL_OK;
}

/* All files first, then all to disk: one journal commit serves them together. */
static cupel_code write_all(const char *folder, cupel_arena *arena, cupel_error *err) {
    CUPEL_TRY(make_folders(folder, arena, err));
    for (int flush = 0; flush < 2; flush++) {
        for (const cupel_emu_embedded_file *f = cupel_emu_embedded_files; f->name; f++) {
            const char *path = cupel_arena_printf(arena, "%s/%s", folder, f->name);
            if (!path) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
            int fd = open(path, flush ? O_RDONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
            size_t size = (size_t)(f->stop - f->start);
            ssize_t wrote = fd >= 0 && !flush ? write(fd, f->start, size) : (ssize_t)size;
            bool done = fd >= 0 && wrote == (ssize_t)size && (!flush || fsync(fd) == 0);
            int error =
                wrote >= 0 && wrote < (ssize_t)size ? ENOSPC : errno; /* a part was written: no room */
            if (fd >= 0) close(fd);
            errno = error;
            if (!done) return cupel_fail(err, CUPEL_IO, "cannot write %s: %s", path, strerror(errno));
        }
    }
    return CUPEL_OK;
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
    cupel_code code = write_all(building, arena, err);
    if (code != CUPEL_OK) {
        remove_folder(building, arena); /* room is what there may be none of */
        return code;
    }
    if (rename(building, target) != 0) {
        /* another process was faster: its copy is as good */
        remove_folder(building, arena);
        if (stat(target, &info) != 0)
            return cupel_fail(err, CUPEL_IO, "cannot write %s: %s", target, strerror(errno));
    }
    return CUPEL_OK;
}
