#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED_BITS = 32, LIMIT_BITS = 24 };

static const char *const texts[] = {
#define CUPEL_SCHEDULE_WAY_TEXT(name, text) text,
    CUPEL_SCHEDULE_WAYS(CUPEL_SCHEDULE_WAY_TEXT)
#undef CUPEL_SCHEDULE_WAY_TEXT
};

static bool uses_seed(cupel_schedule_way way) {
    return way >= CUPEL_SCHEDULE_IN_TURN;
}

static cupel_schedule canonical_form(cupel_schedule schedule) {
    if (schedule.way >= CUPEL_SCHEDULE_WAY_COUNT) schedule.way = CUPEL_SCHEDULE_RANDOM;
    if (!uses_seed(schedule.way)) schedule.seed = 0;
    if (schedule.way != CUPEL_SCHEDULE_RANDOM) schedule.limit = 0;
    schedule.limit &= (1u << LIMIT_BITS) - 1;
    return schedule;
}

uint64_t cupel_schedule_pack(cupel_schedule schedule) {
    schedule = canonical_form(schedule);
    return schedule.seed | (uint64_t)schedule.limit << SEED_BITS |
           (uint64_t)schedule.way << (SEED_BITS + LIMIT_BITS);
}

cupel_schedule cupel_schedule_unpack(uint64_t number) {
    return canonical_form(
        (cupel_schedule){.way = (cupel_schedule_way)(number >> (SEED_BITS + LIMIT_BITS)),
                         .seed = (uint32_t)number,
                         .limit = (uint32_t)(number >> SEED_BITS) & ((1u << LIMIT_BITS) - 1)});
}

void cupel_schedule_write(uint64_t number, char *text, size_t size) {
    cupel_schedule schedule = cupel_schedule_unpack(number);
    if (schedule.limit)
        snprintf(text, size, "%s:%u/%u", texts[schedule.way], schedule.seed, schedule.limit);
    else if (uses_seed(schedule.way))
        snprintf(text, size, "%s:%u", texts[schedule.way], schedule.seed);
    else
        snprintf(text, size, "%s", texts[schedule.way]);
}

/* A decimal number behind a mark; false where there is none or it is too large. */
static bool read_number(const char **at, char mark, uint32_t most, uint32_t *out) {
    char *end;
    if (**at != mark || (*at)[1] < '0' || (*at)[1] > '9') return false;
    unsigned long long number = strtoull(*at + 1, &end, 10);
    *at = end;
    *out = (uint32_t)number;
    return number <= most;
}

cupel_code cupel_schedule_read(const char *text, uint64_t *number, cupel_error *err) {
    size_t length = strcspn(text, ":");
    for (int way = 0; way < CUPEL_SCHEDULE_WAY_COUNT; way++) {
        if (strlen(texts[way]) != length || memcmp(texts[way], text, length)) continue;
        cupel_schedule schedule = {.way = (cupel_schedule_way)way};
        const char *at = text + length;
        bool sound = !uses_seed(schedule.way) || read_number(&at, ':', UINT32_MAX, &schedule.seed);
        if (sound && *at && way == CUPEL_SCHEDULE_RANDOM)
            sound = read_number(&at, '/', (1u << LIMIT_BITS) - 1, &schedule.limit);
        if (!sound || *at) break;
        *number = cupel_schedule_pack(schedule);
        return CUPEL_OK;
    }
    return cupel_fail(
        err, CUPEL_USAGE,
        "expected a schedule such as canonical, reverse, last_warp, in_turn:7, abreast:7, random:7 "
        "or random:7/12, found '%s'",
        text);
}

const char *cupel_schedule_meaning(cupel_schedule_way way) {
    switch (way) {
    case CUPEL_SCHEDULE_CANONICAL: return "threads in order, lanes abreast";
    case CUPEL_SCHEDULE_REVERSE: return "blocks, warps and lanes from last to first, each until it must wait";
    case CUPEL_SCHEDULE_LAST_WARP: return "the last warp first, each lane until it must wait";
    case CUPEL_SCHEDULE_IN_TURN: return "threads in another order, each until it must wait";
    case CUPEL_SCHEDULE_ABREAST: return "threads in another order, abreast";
    case CUPEL_SCHEDULE_RANDOM: return "threads switch at random points";
    case CUPEL_SCHEDULE_WAY_COUNT: break;
    }
    return "";
}

void cupel_schedule_describe(uint64_t number, char *text, size_t size) {
    cupel_schedule schedule = cupel_schedule_unpack(number);
    char name[64];
    cupel_schedule_write(number, name, sizeof name);
    if (schedule.limit)
        snprintf(text, size, "%s, %u time%s at most (%s)", cupel_schedule_meaning(schedule.way),
                 schedule.limit, schedule.limit == 1 ? "" : "s", name);
    else
        snprintf(text, size, "%s (%s)", cupel_schedule_meaning(schedule.way), name);
}

static int compare_u32(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

int cupel_schedule_compare(uint64_t a, uint64_t b) {
    cupel_schedule x = cupel_schedule_unpack(a), y = cupel_schedule_unpack(b);
    if (x.way != y.way) return x.way < y.way ? -1 : 1;
    if (x.limit != y.limit)
        return compare_u32(x.limit - 1, y.limit - 1); /* 0, no limit, becomes the largest */
    return compare_u32(x.seed, y.seed);
}

uint64_t cupel_schedule_nth(uint64_t n) {
    enum { PLAIN = CUPEL_SCHEDULE_IN_TURN, SEEDED = CUPEL_SCHEDULE_WAY_COUNT - PLAIN };
    if (n < PLAIN) return cupel_schedule_pack((cupel_schedule){.way = (cupel_schedule_way)n});
    cupel_schedule schedule = {.way = (cupel_schedule_way)(PLAIN + (n - PLAIN) % SEEDED),
                               .seed = (uint32_t)((n - PLAIN) / SEEDED + 1)};
    /* every other random one has a limit */
    if (schedule.way == CUPEL_SCHEDULE_RANDOM && schedule.seed % 2 == 0)
        schedule.limit = 1u << schedule.seed / 2 % 10;
    return cupel_schedule_pack(schedule);
}
