#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char temporary_prefix[] = ".new-";

bool cupel_store_folder(const char *directory, const char *kind, const char *contract_id, char *path,
                        size_t size) {
    bool here = !directory || strcmp(directory, ".") == 0;
    int length = snprintf(path, size, "%s%s%s/%s", here ? "" : directory, here ? "" : "/", kind, contract_id);
    if (length < 0 || (size_t)length >= size) return false;
    char *id = path + (size_t)length - strlen(contract_id);
    for (char *c = id; *c; c++) /* the id is one name, and not a hidden one, as in a bundle's path */
        if (*c == '/' || (c == id && *c == '.')) *c = '_';
    return true;
}

cupel_code cupel_store_make(const char *path, cupel_error *err) {
    char partial[CUPEL_STORE_PATH];
    if (strlen(path) >= sizeof partial)
        return cupel_fail(err, CUPEL_IO, "the path is too long: %.200s", path);
    for (size_t i = 1;; i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        memcpy(partial, path, i);
        partial[i] = '\0';
        if (mkdir(partial, 0777) != 0 && errno != EEXIST)
            return cupel_fail(err, CUPEL_IO, "cannot make the folder %s: %s", partial, strerror(errno));
        if (path[i] == '\0') break;
    }
    struct stat info;
    if (stat(path, &info) != 0) return cupel_fail(err, CUPEL_IO, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(info.st_mode)) return cupel_fail(err, CUPEL_IO, "%s is not a folder", path);
    return CUPEL_OK;
}

void cupel_store_sweep(const char *folder) {
    DIR *open_folder = opendir(folder);
    if (!open_folder) return;
    for (struct dirent *entry; (entry = readdir(open_folder));) {
        if (strncmp(entry->d_name, temporary_prefix, sizeof temporary_prefix - 1) != 0) continue;
        char *end;
        long pid = strtol(entry->d_name + sizeof temporary_prefix - 1, &end, 10);
        if (pid <= 0 || *end || kill((pid_t)pid, 0) == 0 || errno != ESRCH) continue;
        (void)unlinkat(dirfd(open_folder), entry->d_name, 0);
    }
    closedir(open_folder);
}

static bool write_all(int fd, const unsigned char *bytes, size_t length) {
    while (length > 0) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

cupel_code cupel_store_write(const char *folder, const char *name, const void *bytes, size_t length,
                             bool flushed, cupel_error *err) {
    char temporary[CUPEL_STORE_PATH], path[CUPEL_STORE_PATH];
    if (snprintf(temporary, sizeof temporary, "%s/%s%ld", folder, temporary_prefix, (long)getpid()) >=
            (int)sizeof temporary ||
        snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return cupel_fail(err, CUPEL_IO, "the path is too long: %.200s/%s", folder, name);
    (void)unlink(temporary);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return cupel_fail(err, CUPEL_IO, "%s: %s", path, strerror(errno));
    bool good = write_all(fd, bytes, length) && (!flushed || fsync(fd) == 0);
    int reason = errno;
    if (close(fd) != 0 && good) good = false, reason = errno;
    if (good && rename(temporary, path) != 0) good = false, reason = errno;
    if (good) return CUPEL_OK;
    (void)unlink(temporary);
    return cupel_fail(err, CUPEL_IO, "%s: %s", path, strerror(reason));
}

void cupel_store_flush(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}
