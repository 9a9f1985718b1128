#include "emu_place.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REMEMBERED = 256 };

typedef struct remembered {
    uintptr_t pc;
    cupel_place place;
} remembered;

struct cupel_emu_places {
    uintptr_t base;
    int fd;
    Elf *elf;
    Dwarf *dwarf;
    remembered known[REMEMBERED];
};

cupel_emu_places *cupel_emu_places_open(const char *path, uintptr_t base) {
    cupel_emu_places *places = calloc(1, sizeof *places);
    if (places == NULL) return NULL;
    places->base = base;
    elf_version(EV_CURRENT);
    places->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (places->fd < 0) return places;
    places->elf = elf_begin(places->fd, ELF_C_READ_MMAP, NULL);
    if (places->elf != NULL) places->dwarf = dwarf_begin_elf(places->elf, DWARF_C_READ, NULL);
    return places;
}

void cupel_emu_places_close(cupel_emu_places *places) {
    if (places == NULL) return;
    if (places->dwarf != NULL) dwarf_end(places->dwarf);
    if (places->elf != NULL) elf_end(places->elf);
    if (places->fd >= 0) close(places->fd);
    free(places);
}

static void copy_text(char *to, size_t size, const char *from) {
    snprintf(to, size, "%s", from == NULL ? "" : from);
}

/* Our device headers are named after this prefix or lie in this folder of the candidate's build. */
static bool is_ours(const char *file) {
    const char *name = strrchr(file, '/');
    name = name == NULL ? file : name + 1;
    return strstr(file, "cupel_emu_include") != NULL || strncmp(name, "cupel_", 6) == 0 ||
           strncmp(name, "cuda_", 5) == 0 || strncmp(name, "emu_", 4) == 0;
}

static const char *call_file(Dwarf_Die *unit, Dwarf_Word index) {
    Dwarf_Files *files;
    size_t count;
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || index >= count) return NULL;
    return dwarf_filesrc(files, index, NULL, NULL);
}

/* libstdc++'s, where this program is linked to it; its result is malloc's. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status)
    __attribute__((weak));

/* A function's name as its author wrote it, without parameters. */
static void copy_function(char *to, size_t size, const char *name) {
    int status = -1;
    char *plain = name && strncmp(name, "_Z", 2) == 0 && __cxa_demangle
                      ? __cxa_demangle(name, NULL, NULL, &status)
                      : NULL;
    if (plain) plain[strcspn(plain, "(")] = '\0';
    copy_text(to, size, plain && plain[0] ? plain : name);
    free(plain);
}

static bool attribute_word(Dwarf_Die *die, unsigned name, Dwarf_Word *out) {
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) != NULL && dwarf_formudata(&attribute, out) == 0;
}

static const char *name_of(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, DW_AT_name, &attribute) != NULL) return dwarf_formstring(&attribute);
    return NULL;
}

/* Walks from the innermost scope outwards: while the line is in one of our headers, the place is the call of
 * that scope. */
static void find_in_scopes(Dwarf_Die *unit, Dwarf_Addr address, cupel_place *out) {
    Dwarf_Die *lexical = NULL, *scopes = NULL;
    if (dwarf_getscopes(unit, address, &lexical) <= 0) return;
    int count = dwarf_getscopes_die(&lexical[0], &scopes); /* the chain of calls, not of definitions */
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
        if (tag == DW_TAG_inlined_subroutine && (is_ours(out->file) || out->file[0] == '\0')) {
            Dwarf_Word file, line;
            if (attribute_word(&scopes[i], DW_AT_call_file, &file) &&
                attribute_word(&scopes[i], DW_AT_call_line, &line)) {
                copy_text(out->file, sizeof out->file, call_file(unit, file));
                out->line = (int)line;
            }
            continue;
        }
        copy_function(out->function, sizeof out->function, name_of(&scopes[i]));
        break;
    }
    free(scopes);
    free(lexical);
}

/* The symbol that covers address, from the full symbol table. */
static void find_symbol(Elf *elf, Dwarf_Addr address, cupel_place *out) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_SYMTAB || header.sh_entsize == 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; data != NULL && i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol) == NULL || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
                continue;
            if (address - symbol.st_value >= symbol.st_size) continue;
            copy_function(out->function, sizeof out->function,
                          elf_strptr(elf, header.sh_link, symbol.st_name));
            return;
        }
    }
}

/* The compilation unit that holds address. clang writes no address table, and a candidate has few units: look
 * at all. */
static bool find_unit(Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *unit) {
    Dwarf_Off offset = 0, next;
    size_t header;
    while (dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0) {
        if (dwarf_offdie(dwarf, offset + header, unit) != NULL && dwarf_haspc(unit, address) == 1)
            return true;
        offset = next;
    }
    return false;
}

/* The line of an address; where the compiler names none (line 0), the last one before it that has one. */
static Dwarf_Line *line_of(Dwarf_Die *unit, Dwarf_Addr address) {
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(unit, &lines, &count) != 0) return NULL;
    Dwarf_Line *found = NULL;
    Dwarf_Addr best = 0;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr start;
        int number;
        bool ends;
        if (dwarf_lineaddr(line, &start) != 0 || dwarf_lineno(line, &number) != 0 ||
            dwarf_lineendsequence(line, &ends) != 0)
            continue;
        if (ends || number == 0 || start > address || start < best) continue;
        found = line;
        best = start;
    }
    return found;
}

static void find(cupel_emu_places *places, Dwarf_Addr address, cupel_place *out) {
    Dwarf_Die unit;
    if (places->dwarf != NULL && find_unit(places->dwarf, address, &unit)) {
        Dwarf_Line *line = line_of(&unit, address);
        if (line != NULL) {
            copy_text(out->file, sizeof out->file, dwarf_linesrc(line, NULL, NULL));
            dwarf_lineno(line, &out->line);
        }
        find_in_scopes(&unit, address, out);
    }
    if (out->function[0] == '\0' && places->elf != NULL) find_symbol(places->elf, address, out);
}

void cupel_emu_places_find(cupel_emu_places *places, const void *pc, cupel_place *out) {
    uintptr_t address = (uintptr_t)pc - 1; /* inside the call */
    remembered *slot = &places->known[(address * 2654435761u >> 7) % REMEMBERED];
    if (slot->pc != address) {
        *slot = (remembered){.pc = address};
        find(places, address - places->base, &slot->place);
    }
    memcpy(out->function, slot->place.function, sizeof out->function);
    memcpy(out->file, slot->place.file, sizeof out->file);
    out->line = slot->place.line;
}
