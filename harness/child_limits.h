/* Limits and signals of a child process that does untrusted work, between fork and what it is for: only what
 * is safe there. */
#ifndef CUPEL_CHILD_LIMITS_H
#define CUPEL_CHILD_LIMITS_H

#include <sys/resource.h>

/* Is this a build with AddressSanitizer? */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUPEL_SANITIZED 1
#endif
#endif
#ifndef CUPEL_SANITIZED
#define CUPEL_SANITIZED 0
#endif

/* Soft and hard limit, at most what is permitted. A limit that cannot be set leaves what watches the child.
 */
void cupel_child_limit(int resource, rlim_t value);
/* Limit on the data that the child maps, in bytes; not in a build with AddressSanitizer, which maps more than
 * that at once. */
void cupel_child_limit_data(rlim_t bytes);
/* Every signal as a new program has it. */
void cupel_child_reset_signals(void);

#endif
