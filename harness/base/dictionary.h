/* Numbers that a kernel's own source makes interesting: what it compares with, divides by, and takes
 * remainders of. The source layer mines them, mutators bias dims, params and values towards them. Plain data.
 */
#ifndef CUPEL_DICTIONARY_H
#define CUPEL_DICTIONARY_H

#include <stdint.h>

enum { CUPEL_DICTIONARY_WORDS = 96, CUPEL_DICTIONARY_NUMBERS = 48 };

typedef enum cupel_word_role {
    CUPEL_WORD_PLAIN,    /* an integer literal or constant somewhere in device code */
    CUPEL_WORD_COMPARED, /* stands beside a comparison, or is a case label */
    CUPEL_WORD_SIZE,     /* a divisor, a step of a loop, an extent of a shared array: a block or tile size */
    CUPEL_WORD_MODULUS   /* stands behind % (or & as a power of two less one) */
} cupel_word_role;

typedef struct cupel_word {
    int64_t value;
    int64_t residue; /* of a MODULUS: what the remainder is compared with; -1 where that is not known */
    cupel_word_role role;
} cupel_word;

typedef struct cupel_dictionary {
    int word_count, number_count;
    cupel_word words[CUPEL_DICTIONARY_WORDS];
    double numbers[CUPEL_DICTIONARY_NUMBERS]; /* floating-point literals */
} cupel_dictionary;

#endif
