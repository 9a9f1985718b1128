/* What supervisor and worker say to each other over a stream socket. Every message is a header (magic and
 * version, type, length) and a payload of fixed-size fields, the recipe and the buffers' bytes behind them.
 * The worker shares its process with the candidate, so the supervisor believes no length, enumerator or
 * string that it reads. */
#ifndef CUPEL_PROTOCOL_H
#define CUPEL_PROTOCOL_H

#include "executor.h"
#include "gate.h"
#include "wire.h"

enum {
    CUPEL_PROTOCOL_MAGIC = 0x01575043, /* "CPW", version 1 */
    CUPEL_PROTOCOL_HEADER = 16,        /* bytes */
    CUPEL_PROTOCOL_COMMAND_MAX = 64 * 1024,
    CUPEL_PROTOCOL_TEXTS_MAX = 32
};
#define CUPEL_PROTOCOL_PAYLOAD_MAX ((uint64_t)1 << 31)

typedef enum cupel_message_type {
    /* to the worker */
    CUPEL_MESSAGE_OPEN = 1, /* the candidate; answered by READY or FAILED */
    CUPEL_MESSAGE_RUN,      /* one run; answered by OBSERVED or FAILED */
    CUPEL_MESSAGE_SEARCH,   /* a campaign; answered by SUSPECTs and INTERESTINGs, then DONE or FAILED */
    /* from the worker */
    CUPEL_MESSAGE_READY,
    CUPEL_MESSAGE_FAILED,
    CUPEL_MESSAGE_OBSERVED,
    CUPEL_MESSAGE_SUSPECT,
    CUPEL_MESSAGE_DONE,
    CUPEL_MESSAGE_INTERESTING, /* a recipe that brought a new feature, on the way of a search */
    /* to the worker, before SEARCH, which takes them: recipes, one a message; unanswered */
    CUPEL_MESSAGE_START,
    CUPEL_MESSAGE_CORPUS,
    CUPEL_MESSAGE_END
} cupel_message_type;

typedef struct cupel_header {
    cupel_message_type type;
    uint64_t length; /* of the payload */
} cupel_header;

void cupel_protocol_put_header(cupel_header header, uint8_t bytes[CUPEL_PROTOCOL_HEADER]);
/* False for another magic or version, an unknown type or a payload over the limit. */
bool cupel_protocol_get_header(const uint8_t bytes[CUPEL_PROTOCOL_HEADER], cupel_header *out);

typedef struct cupel_open_command {
    char contract_path[1024], contract_id[128], executor[16], cache[1024];
    double seconds_limit;
    uint64_t step_limit;
    uint64_t memory_limit; /* bytes; 0: none */
    bool sanitize, whole_grids;
    int define_count, include_count;
    char defines[CUPEL_PROTOCOL_TEXTS_MAX][256], includes[CUPEL_PROTOCOL_TEXTS_MAX][1024];
} cupel_open_command;

typedef struct cupel_run_command {
    uint64_t schedule;
    cupel_poison poison;
    bool history; /* the recipe's earlier call is made too */
    uint32_t recipe_size;
    uint8_t recipe[CUPEL_RECIPE_BYTES_MAX];
} cupel_run_command;

typedef struct cupel_search_command {
    char engine[16];
    uint64_t seed, first, count;
    int64_t max_elements;
    uint64_t start_count; /* of the campaign; they came in STARTs where first is not behind them */
} cupel_search_command;

/* A recipe by itself: START, CORPUS, INTERESTING. */
typedef struct cupel_recipe_message {
    uint32_t news; /* CUPEL_NEWS_..., what it brought when it was tried */
    uint32_t size;
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
} cupel_recipe_message;

/* A suspicion: the recipe and, of its findings, what makes up their signatures and a first report. */
typedef struct cupel_suspect {
    uint64_t n;
    uint32_t recipe_size;
    uint8_t recipe[CUPEL_RECIPE_BYTES_MAX];
    int finding_count;
    cupel_finding findings[CUPEL_CASE_FINDINGS_MAX];
} cupel_suspect;

/* Each put writes a payload, each get reads one and returns false when it is not sound. */
void cupel_protocol_put_open(cupel_writer *w, const cupel_open_command *command);
bool cupel_protocol_get_open(cupel_reader *r, cupel_open_command *out);
void cupel_protocol_put_run(cupel_writer *w, const cupel_run_command *command);
bool cupel_protocol_get_run(cupel_reader *r, cupel_run_command *out);
void cupel_protocol_put_search(cupel_writer *w, const cupel_search_command *command);
bool cupel_protocol_get_search(cupel_reader *r, cupel_search_command *out);
void cupel_protocol_put_recipe(cupel_writer *w, uint32_t news, const uint8_t *recipe, uint32_t size);
bool cupel_protocol_get_recipe(cupel_reader *r, cupel_recipe_message *out);
void cupel_protocol_put_error(cupel_writer *w, const cupel_error *err);
bool cupel_protocol_get_error(cupel_reader *r, cupel_error *out);
void cupel_protocol_put_suspect(cupel_writer *w, const cupel_suspect *suspect);
bool cupel_protocol_get_suspect(cupel_reader *r, cupel_suspect *out);
/* The record without the buffers' bytes, which follow in order; size of the record. */
void cupel_protocol_put_observation(cupel_writer *w, const cupel_observation *observation);
/* c: the case that was run; a buffer count or size that is not the case's makes the record unsound. The bytes
 * are copied into arena. */
bool cupel_protocol_get_observation(cupel_reader *r, const cupel_case *c, cupel_arena *arena,
                                    cupel_observation *out);

/* Bytes that the record of an observation or a suspect takes at most. */
enum { CUPEL_PROTOCOL_OBSERVATION_MAX = 16 * 1024, CUPEL_PROTOCOL_SUSPECT_MAX = 32 * 1024 };

/* Sends a message on a blocking socket: payload, then more (may be NULL). False when the other side is gone.
 */
bool cupel_protocol_send(int fd, cupel_message_type type, const void *payload, size_t size);
/* As above; the payload is followed by the observation's buffer bytes. */
bool cupel_protocol_send_observation(int fd, const cupel_observation *observation);
/* Receives a command in the worker; bytes has CUPEL_PROTOCOL_COMMAND_MAX. False at the end of the stream or
 * for a broken one. */
bool cupel_protocol_receive(int fd, cupel_header *header, uint8_t *bytes);

#endif
