#include "emu_load.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "emu_machine.h"
#include "emu_place.h"
#include "emu_red_zone.h"

enum { RANGES_MAX = 64, SHARED_SYMBOLS_MAX = 1024 };

typedef struct range {
    uintptr_t start, stop;
} range;

typedef struct shared_symbol {
    char *function; /* mangled, without the variable */
    char *variable;
    uintptr_t start;
    size_t size;
} shared_symbol;

/* A variable of the author's. */
typedef struct variable_symbol {
    char *name; /* mangled */
    uintptr_t start;
    size_t size;
} variable_symbol;

struct cupel_emu_module {
    char *path;
    void *handle;
    const cupel_emu_candidate_t *candidate;
    uintptr_t base;
    bool strict;
    range pages, code;
    int variable_count, hidden_count;
    range variables[RANGES_MAX]; /* writable sections */
    range hidden[RANGES_MAX];    /* the runtime's own variables inside them */
    unsigned char *snapshots[RANGES_MAX];
    int shared_count;
    shared_symbol shared[SHARED_SYMBOLS_MAX];
    uint8_t *red_zones;
    int symbol_count;
    variable_symbol *symbols;
    uint8_t *coverage;
    cupel_emu_places *places;
};

static bool within(const range *r, uintptr_t address, size_t size) {
    return address - r->start < r->stop - r->start && size <= r->stop - address;
}

static bool overlaps(const range *r, uintptr_t address, size_t size) {
    return address < r->stop && r->start < address + size;
}

static void add_range(range *ranges, int *count, uintptr_t start, size_t size) {
    if (size != 0 && *count < RANGES_MAX) ranges[(*count)++] = (range){start, start + size};
}

/* Where the name of the variable begins in the mangled name of a function's static variable
 * (_ZZ<function>E<variable>); 0 for other names. */
static size_t variable_start(const char *name) {
    if (strncmp(name, "_ZZ", 3) != 0) return 0;
    for (size_t i = strlen(name); i-- > 3;) {
        if (name[i] != 'E') continue;
        char *end;
        unsigned long length = strtoul(name + i + 1, &end, 10);
        if (end != name + i + 1 && length != 0 && strlen(end) >= length) return i;
    }
    return 0;
}

static void add_variable(cupel_emu_module *module, const char *name, uintptr_t start, size_t size) {
    variable_symbol *grown =
        realloc(module->symbols, ((size_t)module->symbol_count + 1) * sizeof *module->symbols);
    if (grown == NULL) return;
    module->symbols = grown;
    char *copy = strdup(name);
    if (copy != NULL) module->symbols[module->symbol_count++] = (variable_symbol){copy, start, size};
}

/* Without memory for the map no byte is known as one of a red zone. */
static void add_red_zone(cupel_emu_module *module, const range *shared, uintptr_t start, size_t size) {
    if (module->red_zones == NULL)
        module->red_zones = calloc((shared->stop - shared->start) / 8 + 9, sizeof *module->red_zones);
    if (module->red_zones == NULL) return;
    for (size_t at = start - shared->start; at < start - shared->start + size; at++)
        module->red_zones[at / 8] |= (uint8_t)(1 << at % 8);
}

static void read_symbol(cupel_emu_module *module, const char *name, const GElf_Sym *symbol) {
    uintptr_t start = module->base + symbol->st_value;
    const cupel_emu_candidate_t *c = module->candidate;
    if (strncmp(name, "cupel_emu_", 10) == 0)
        add_range(module->hidden, &module->hidden_count, start, symbol->st_size);
    range shared = {(uintptr_t)c->shared_start, (uintptr_t)c->shared_stop};
    if (strncmp(name, CUPEL_EMU_RED_ZONE_NAME, sizeof CUPEL_EMU_RED_ZONE_NAME - 1) == 0 &&
        within(&shared, start, symbol->st_size))
        add_red_zone(module, &shared, start, symbol->st_size);
    if (strncmp(name, "cupel_", 6) != 0 && !within(&shared, start, symbol->st_size))
        add_variable(module, name, start, symbol->st_size);
    size_t function = variable_start(name);
    if (function == 0 || !within(&shared, start, symbol->st_size) ||
        module->shared_count == SHARED_SYMBOLS_MAX)
        return;
    char *copy = strndup(name, function), *variable = strdup(name + function + 1);
    if (copy != NULL && variable != NULL) {
        module->shared[module->shared_count++] = (shared_symbol){copy, variable, start, symbol->st_size};
        return;
    }
    free(copy);
    free(variable);
}

static void read_symbols(cupel_emu_module *module, Elf *elf, Elf_Scn *section, const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    if (data == NULL || header->sh_entsize == 0) return;
    for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name != NULL) read_symbol(module, name, &symbol);
    }
}

/* Sections that hold the author's variables; the linker's and the sanitizer's own tables are not among them.
 */
static bool is_variable_section(const char *name) {
    static const char *const others[] = {".got",         ".dynamic",  ".init_array", ".fini_array",
                                         ".data.rel.ro", ".tm_clone", "__sancov",    ".ctors",
                                         "cupel_sites",  ".dtors",    ".eh_frame",   ".relro"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0) return false;
    return true;
}

static void read_sections(cupel_emu_module *module, Elf *elf) {
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0) return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL) continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (header.sh_type == SHT_SYMTAB) read_symbols(module, elf, section, &header);
        if (name == NULL || (header.sh_flags & SHF_ALLOC) == 0) continue;
        uintptr_t start = module->base + header.sh_addr;
        if (start + header.sh_size > module->pages.stop) module->pages.stop = start + header.sh_size;
        if (header.sh_flags & SHF_EXECINSTR) {
            if (module->code.start == 0 || start < module->code.start) module->code.start = start;
            if (start + header.sh_size > module->code.stop) module->code.stop = start + header.sh_size;
        }
        if ((header.sh_flags & SHF_WRITE) && (header.sh_flags & SHF_TLS) == 0 && is_variable_section(name))
            add_range(module->variables, &module->variable_count, start, header.sh_size);
    }
}

static int by_start(const void *a, const void *b) {
    const range *one = a, *two = b;
    return (one->start > two->start) - (one->start < two->start);
}

static bool read_object(cupel_emu_module *module) {
    int fd = open(module->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf != NULL) read_sections(module, elf);
    elf_end(elf);
    close(fd);
    qsort(module->hidden, (size_t)module->hidden_count, sizeof module->hidden[0], by_start);
    return module->code.stop != 0;
}

static bool take_snapshots(cupel_emu_module *module) {
    for (int i = 0; i < module->variable_count; i++) {
        size_t size = module->variables[i].stop - module->variables[i].start;
        module->snapshots[i] = malloc(size);
        if (module->snapshots[i] == NULL) return false;
        memcpy(module->snapshots[i], (const void *)module->variables[i].start, size);
    }
    return true;
}

void cupel_emu_module_restore(cupel_emu_module *module) {
    for (int i = 0; i < module->variable_count; i++)
        memcpy((void *)module->variables[i].start, module->snapshots[i],
               module->variables[i].stop - module->variables[i].start);
}

static cupel_code open_object(cupel_emu_module *module, const char *path, cupel_error *err) {
    module->path = strdup(path);
    if (module->path == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module->handle == NULL)
        return cupel_fail(err, CUPEL_BUILD, "cannot load the compiled candidate: %s", dlerror());
    module->candidate = dlsym(module->handle, "cupel_emu_candidate");
    if (module->candidate == NULL)
        return cupel_fail(err, CUPEL_BUILD, "the compiled candidate %s does not export cupel_emu_candidate",
                          path);
    if (module->candidate->abi_version != CUPEL_EMU_ABI_VERSION)
        return cupel_fail(err, CUPEL_UNSUPPORTED,
                          "the compiled candidate %s is of version %u, this emulator of version %d", path,
                          module->candidate->abi_version, CUPEL_EMU_ABI_VERSION);
    module->strict = dlsym(module->handle, "cupel_emu_strict_candidate") != NULL;
    struct link_map *map = NULL;
    if (dlinfo(module->handle, RTLD_DI_LINKMAP, &map) != 0)
        return cupel_fail(err, CUPEL_BUILD, "cannot find where the candidate was loaded");
    module->base = module->pages.start = map->l_addr;
    if (!read_object(module)) return cupel_fail(err, CUPEL_IO, "cannot read the sections of %s", path);
    module->coverage = calloc((size_t)module->candidate->edge_count + 1, 1);
    module->places = cupel_emu_places_open(module->path, module->base);
    if (module->coverage == NULL || module->places == NULL)
        return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (!take_snapshots(module)) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    return CUPEL_OK;
}

cupel_code cupel_emu_module_load(const char *path, cupel_emu_module **out, cupel_error *err) {
    cupel_emu_module *module = calloc(1, sizeof *module);
    if (module == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    cupel_code code = open_object(module, path, err);
    if (code != CUPEL_OK) {
        cupel_emu_module_close(module);
        return code;
    }
    *out = module;
    return CUPEL_OK;
}

void cupel_emu_module_close(cupel_emu_module *module) {
    if (module == NULL) return;
    cupel_emu_places_close(module->places);
    for (int i = 0; i < module->variable_count; i++) free(module->snapshots[i]);
    for (int i = 0; i < module->shared_count; i++) {
        free(module->shared[i].function);
        free(module->shared[i].variable);
    }
    for (int i = 0; i < module->symbol_count; i++) free(module->symbols[i].name);
    free(module->symbols);
    if (module->handle != NULL) dlclose(module->handle);
    free(module->coverage);
    free(module->red_zones);
    free(module->path);
    free(module);
}

const cupel_emu_kernel *cupel_emu_module_kernel(const cupel_emu_module *module, const char *entry) {
    for (uint32_t i = 0; i < module->candidate->kernel_count; i++)
        if (strcmp(module->candidate->kernels[i].entry, entry) == 0) return &module->candidate->kernels[i];
    return NULL;
}

void cupel_emu_module_gather(cupel_emu_module *module) {
    uint32_t *edges = module->candidate->edges, count = module->candidate->edge_count;
    uint8_t *coverage = module->coverage + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t taken = coverage[i] + (edges[i] < 255 ? edges[i] : 255);
        coverage[i] = (uint8_t)(taken < 255 ? taken : 255);
        edges[i] = 0;
    }
}

uint8_t *cupel_emu_module_coverage(cupel_emu_module *module, size_t *count) {
    *count = (size_t)module->candidate->edge_count + 1;
    return module->coverage;
}

uint64_t cupel_emu_module_hash(const cupel_emu_module *module) {
    uint64_t hash = 0;
    for (int i = 0; i < module->variable_count; i++) {
        uintptr_t at = module->variables[i].start;
        const uintptr_t stop = module->variables[i].stop;
        for (int h = 0; h < module->hidden_count; h++) {
            const range *hidden = &module->hidden[h];
            if (!overlaps(hidden, at, stop - at)) continue;
            if (hidden->start > at) hash = XXH3_64bits_withSeed((const void *)at, hidden->start - at, hash);
            at = hidden->stop < stop ? hidden->stop : stop;
        }
        hash = XXH3_64bits_withSeed((const void *)at, stop - at, hash);
    }
    return hash;
}

/* "ns::softmax<float>" -> "7softmax", as its name stands in mangled names. */
static void mangled_name(const char *entry, char *text, size_t size) {
    size_t stop = strcspn(entry, "<("), start = stop;
    while (stop > 0 && entry[stop - 1] == ' ') stop--;
    start = stop;
    while (start > 0 && strchr(": *&", entry[start - 1]) == NULL) start--;
    snprintf(text, size, "%zu%.*s", stop - start, (int)(stop - start), entry + start);
}

size_t cupel_emu_module_static_shared(const cupel_emu_module *module, const cupel_emu_kernel *kernel) {
    char name[256];
    mangled_name(kernel->entry, name, sizeof name);
    size_t least = SIZE_MAX;
    for (int i = 0; i < module->shared_count; i++) {
        const char *function = module->shared[i].function;
        if (strstr(function, name) == NULL) continue;
        size_t sum = 0;
        for (int j = 0; j < module->shared_count; j++)
            if (strcmp(module->shared[j].function, function) == 0) sum += module->shared[j].size;
        if (sum < least) least = sum; /* of several instances the smallest: never too much */
    }
    return least == SIZE_MAX ? 0 : least;
}

bool cupel_emu_module_shared_array(const cupel_emu_module *module, uintptr_t address, const char **name,
                                   int *length, size_t *size, size_t *offset) {
    const shared_symbol *found = NULL;
    for (int i = 0; i < module->shared_count; i++) {
        const shared_symbol *s = &module->shared[i];
        if (s->start <= address && (found == NULL || s->start > found->start)) found = s;
    }
    if (found == NULL) return false;
    char *rest; /* "6s_hist_0": a length, a name, maybe a number among equals */
    *length = (int)strtoul(found->variable, &rest, 10);
    *name = rest;
    *size = found->size;
    *offset = address - found->start;
    return true;
}

const cupel_emu_candidate_t *cupel_emu_module_candidate(const cupel_emu_module *module) {
    return module->candidate;
}
const char *cupel_emu_module_path(const cupel_emu_module *module) {
    return module->path;
}
const uint8_t *cupel_emu_module_red_zones(const cupel_emu_module *module) {
    return module->red_zones;
}
bool cupel_emu_module_is_strict(const cupel_emu_module *module) {
    return module->strict;
}
uintptr_t cupel_emu_module_base(const cupel_emu_module *module) {
    return module->base;
}
cupel_emu_places *cupel_emu_module_places(cupel_emu_module *module) {
    return module->places;
}

bool cupel_emu_module_owns_pages(const cupel_emu_module *module, uintptr_t address, size_t size) {
    return within(&module->pages, address, size);
}

bool cupel_emu_module_is_code(const cupel_emu_module *module, uintptr_t address) {
    return within(&module->code, address, 1);
}

bool cupel_emu_module_owns(const cupel_emu_module *module, uintptr_t address, size_t size, bool write) {
    if (!within(&module->pages, address, size)) return false;
    for (int i = 0; i < module->hidden_count; i++)
        if (overlaps(&module->hidden[i], address, size)) return !write;
    for (int i = 0; i < module->variable_count; i++)
        if (within(&module->variables[i], address, size)) return true;
    return !write;
}

/* How the Itanium C++ ABI spells a variable: as it is in C at the top, else _ZN4name5innerE; an L before the
 * last name of one that is static; _GLOBAL__N_1 for a namespace without a name. */
static bool spelled(const char *name, bool is_static, bool unnamed, char *text, size_t size) {
    const bool plain = strstr(name, "::") == NULL;
    if (plain && !unnamed && !is_static) return snprintf(text, size, "%s", name) < (int)size;
    if (plain && !unnamed) return snprintf(text, size, "_ZL%zu%s", strlen(name), name) < (int)size;
    int used = snprintf(text, size, "_ZN%s", unnamed ? "12_GLOBAL__N_1" : "");
    while (used < (int)size) {
        const char *colon = strstr(name, "::");
        const int length = colon != NULL ? (int)(colon - name) : (int)strlen(name);
        used += snprintf(text + used, size - (size_t)used, "%s%d%.*s", colon == NULL && is_static ? "L" : "",
                         length, length, name);
        if (colon == NULL) break;
        name = colon + 2;
    }
    if (used < (int)size) used += snprintf(text + used, size - (size_t)used, "E");
    return used < (int)size;
}

bool cupel_emu_module_variable(const cupel_emu_module *module, const char *name, void **start, size_t *size) {
    char text[512];
    for (int form = 0; form < 4; form++) {
        if (!spelled(name, form & 1, form & 2, text, sizeof text)) continue;
        for (int i = 0; i < module->symbol_count; i++) {
            const variable_symbol *v = &module->symbols[i];
            if (strcmp(v->name, text) != 0 || !cupel_emu_module_owns(module, v->start, v->size, true))
                continue;
            *start = (void *)v->start;
            *size = v->size;
            return true;
        }
    }
    return false;
}
