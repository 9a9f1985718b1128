#include "child_limits.h"

#include <signal.h>

void cupel_child_limit(int resource, rlim_t value) {
    struct rlimit old;
    if (getrlimit(resource, &old) != 0) return;
    if (old.rlim_max != RLIM_INFINITY && value > old.rlim_max) value = old.rlim_max;
    struct rlimit now = {value, value};
    (void)setrlimit(resource, &now);
}

void cupel_child_limit_data(rlim_t bytes) {
    if (!CUPEL_SANITIZED) cupel_child_limit(RLIMIT_DATA, bytes);
}

void cupel_child_reset_signals(void) {
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        if (number != SIGKILL && number != SIGSTOP) (void)sigaction(number, &action, NULL);
    }
}
