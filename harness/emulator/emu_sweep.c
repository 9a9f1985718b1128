#include "emu_sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What mkdtemp makes of our two names. */
static bool is_working_folder(const char *name) {
    static const char *const prefixes[] = {"compile-", "unpack-"};
    enum { RANDOM_LETTERS = 6 };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0 && strlen(name + length) == RANDOM_LETTERS) return true;
    }
    return false;
}

/* They hold files, and folders of headers. */
static void remove_folder(int cache, const char *name, int depth) {
    int fd = openat(cache, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0) close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(fd, entry->d_name, 0) != 0 && depth > 0)
            remove_folder(fd, entry->d_name, depth - 1);
    closedir(folder);
    (void)unlinkat(cache, name, AT_REMOVEDIR);
}

void cupel_emu_sweep(const char *cache, time_t before) {
    DIR *folder = opendir(cache);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat info;
        if (is_working_folder(entry->d_name) &&
            fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode) &&
            info.st_mtime < before)
            remove_folder(dirfd(folder), entry->d_name, 1);
    }
    closedir(folder);
}
