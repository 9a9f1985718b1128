#include "worker_isolation.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int write_text(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t length = (ssize_t)strlen(text);
    int result = write(fd, text, (size_t)length) == length ? 0 : -1;
    close(fd);
    return result;
}

/* An ordinary user owns name spaces only inside a user name space, in which he keeps his number. */
static int enter_user_space(void) {
    char map[64];
    unsigned user = (unsigned)getuid(), group = (unsigned)getgid();
    if (unshare(CLONE_NEWUSER)) return -1;
    (void)write_text("/proc/self/setgroups", "deny"); /* absent on old kernels, and then not needed */
    snprintf(map, sizeof map, "%u %u 1", user, user);
    if (write_text("/proc/self/uid_map", map)) return -1;
    snprintf(map, sizeof map, "%u %u 1", group, group);
    return write_text("/proc/self/gid_map", map);
}

static int enter_spaces(void) {
    const int spaces = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC;
    if (unshare(spaces) == 0) return 0;
    return enter_user_space() || unshare(spaces);
}

static int set_read_only(const char *path, unsigned flags, bool read_only) {
    struct mount_attr attributes = {0};
    if (read_only)
        attributes.attr_set = MOUNT_ATTR_RDONLY;
    else
        attributes.attr_clr = MOUNT_ATTR_RDONLY;
    return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &attributes, sizeof attributes);
}

/* The writable folder becomes a mount of its own first, so that it can stay writable below a read-only root.
 */
static int freeze_files(const char *writable, bool proc) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) return -1;
    if (writable && mount(writable, writable, NULL, MS_BIND, NULL)) return -1;
    if (set_read_only("/", AT_RECURSIVE, true)) return -1;
    if (proc && set_read_only("/proc", 0, false)) return -1;
    return writable ? set_read_only(writable, 0, false) : 0;
}

void cupel_worker_isolate(const char *writable, bool proc, char *text, size_t size) {
    text[0] = 0;
    if (enter_spaces())
        snprintf(
            text, size,
            "candidates run without isolation: this machine allows no name spaces (%s); time and memory are "
            "still limited",
            strerror(errno));
    else if (freeze_files(writable, proc))
        snprintf(text, size, "candidates may write to the file system: it cannot be made read-only (%s)",
                 strerror(errno));
    /* A change of credentials clears it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
