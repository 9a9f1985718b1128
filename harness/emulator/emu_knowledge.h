/* What a thread of a sanitized launch knows to have happened: a vector clock that holds only what differs
 * from nothing. A kernel has up to millions of threads and most know of their own block alone.
 *
 * A block's time is counted in phases, which end at its barriers; a thread's own time in clocks, which tick
 * where it hands its knowledge on. (Lamport 1978, Fidge 1988, Mattern 1989; sparse as FastTrack's epochs are,
 * Flanagan and Freund 2009.) */
#ifndef CUPEL_EMU_KNOWLEDGE_H
#define CUPEL_EMU_KNOWLEDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that a block did before this phase (thread CUPEL_EMU_WHOLE), or all that one thread did up to this
 * clock, in this phase or before. */
typedef struct cupel_emu_fact {
    uint32_t block, thread; /* thread + 1 */
    uint32_t phase, clock;
} cupel_emu_fact;
enum { CUPEL_EMU_WHOLE = 0 };

/* Facts in order of block and thread, each pair once. Never changed once made, so that threads share them;
 * all live until cupel_emu_knowledge_forget. NULL knows nothing. */
typedef struct cupel_emu_knowledge {
    uint32_t count;
    cupel_emu_fact facts[];
} cupel_emu_knowledge;

/* Of facts in any order, each pair once; NULL when out of memory (cupel_emu_knowledge_lost). facts is sorted
 * in place. */
const cupel_emu_knowledge *cupel_emu_knowledge_of(cupel_emu_fact *facts, uint32_t count);

/* What either knows; one of the two where it knows all that the other does. */
const cupel_emu_knowledge *cupel_emu_knowledge_join(const cupel_emu_knowledge *a,
                                                    const cupel_emu_knowledge *b);

/* Has this happened, as far as k knows? thread as in a fact, but not CUPEL_EMU_WHOLE. */
bool cupel_emu_knowledge_has(const cupel_emu_knowledge *k, uint32_t block, uint32_t thread, uint32_t phase,
                             uint32_t clock);

/* Was there no room for some of it since the last forget? Then nothing may be concluded from what is not
 * known. */
bool cupel_emu_knowledge_lost(void);
void cupel_emu_knowledge_forget(void);

#endif
