/* A cubin is an ELF file for machine 190. Section .nv.info holds records about functions (registers, frames),
 * each with the number of the function's symbol; .nv.info.KERNEL holds records about one kernel (bounds on
 * the block, parameters); .nv.shared.KERNEL is as large as the kernel's static shared memory. A record is a
 * byte for its form, a byte for its attribute and 16 bits that are its value or the length of what follows.
 * The numbers below were found by compiling kernels that have a property and ones that have not, and agree
 * with what cuobjdump prints (-elf, --dump-resource-usage) for sm_80, sm_90 and sm_100 of CUDA 13. */
#include "cubin.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

enum { MACHINE_CUDA = 190, RESERVED_SHARED = 1024, KERNELS_MAX = 4096 };

/* Forms of records. */
enum { FORM_NONE = 1, FORM_BYTE = 2, FORM_HALF = 3, FORM_BYTES = 4 };

/* Attributes. */
enum {
    MAX_THREADS = 0x05,
    REQUIRED_BLOCK = 0x10,
    FRAME_SIZE = 0x11,
    PARAMETER_BYTES = 0x19,
    REGISTER_COUNT = 0x2f,
    BARRIER_COUNT = 0x4c,
    TENSOR_MEMORY_1 = 0x51,
    TENSOR_MEMORY_2 = 0x52
};

typedef struct reader {
    Elf *elf;
    size_t names; /* the section of section names */
    Elf_Data *symbols;
    GElf_Shdr symbols_header;
    size_t symbol_count;
    bool reserves; /* sections of shared memory begin with what the system reserves */
    cupel_cubin *out;
} reader;

typedef struct record {
    uint8_t form, attribute;
    uint16_t value;             /* NONE, BYTE, HALF */
    const unsigned char *bytes; /* BYTES */
    size_t size;
} record;

static uint32_t word(const unsigned char *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Takes the next record off the front; false at the end, and at one that does not fit. */
static bool next_record(const unsigned char **at, const unsigned char *end, record *out) {
    const unsigned char *p = *at;
    if (end - p < 4) return false;
    *out = (record){.form = p[0], .attribute = p[1], .value = (uint16_t)(p[2] | p[3] << 8)};
    p += 4;
    if (out->form == FORM_BYTES) {
        if (end - p < out->value) return false;
        out->bytes = p;
        out->size = out->value;
        p += out->value;
    } else if (out->form == FORM_BYTE) {
        out->value &= 0xff;
    } else if (out->form != FORM_NONE && out->form != FORM_HALF) {
        return false;
    }
    *at = p;
    return true;
}

static cupel_code bad(cupel_error *err, const char *what) {
    return cupel_fail(err, CUPEL_SYNTAX, "not a cubin: %s", what);
}

static const char *section_name(const reader *r, const GElf_Shdr *header) {
    const char *name = elf_strptr(r->elf, r->names, header->sh_name);
    return name ? name : "";
}

/* ---- which kernels there are ---- */

static bool read_symbol(const reader *r, size_t i, GElf_Sym *symbol, const char **name) {
    if (i >= r->symbol_count || !gelf_getsym(r->symbols, (int)i, symbol)) return false;
    *name = elf_strptr(r->elf, r->symbols_header.sh_link, symbol->st_name);
    return *name != NULL;
}

static cupel_cubin_kernel *find(const cupel_cubin *cubin, const char *name) {
    for (int i = 0; i < cubin->count; i++)
        if (strcmp(cubin->kernels[i].name, name) == 0) return &cubin->kernels[i];
    return NULL;
}

/* Every kernel has an .nv.info section of its own; functions that it calls have none. */
static cupel_code add_kernels(reader *r, cupel_arena *arena, cupel_error *err) {
    static const char prefix[] = ".nv.info.";
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    int count = 0;
    while ((section = elf_nextscn(r->elf, section)) && gelf_getshdr(section, &header))
        count += strncmp(section_name(r, &header), prefix, sizeof prefix - 1) == 0;
    if (count > KERNELS_MAX) return bad(err, "too many kernels");
    r->out->kernels = cupel_arena_alloc(arena, (size_t)(count + 1) * sizeof *r->out->kernels);
    if (!r->out->kernels) return cupel_fail(err, CUPEL_MEMORY, "no memory for a cubin's tables");
    while ((section = elf_nextscn(r->elf, section)) && gelf_getshdr(section, &header)) {
        const char *name = section_name(r, &header);
        if (strncmp(name, prefix, sizeof prefix - 1) != 0) continue;
        name += sizeof prefix - 1;
        char *copy = cupel_arena_text(arena, name, strlen(name));
        if (!copy) return cupel_fail(err, CUPEL_MEMORY, "no memory for a cubin's tables");
        r->out->kernels[r->out->count++].name = copy;
    }
    return CUPEL_OK;
}

/* ---- records ---- */

static void take_function_record(reader *r, const record *seen) {
    GElf_Sym symbol;
    const char *name;
    if (seen->form != FORM_BYTES || seen->size < 8 || !read_symbol(r, word(seen->bytes), &symbol, &name))
        return;
    cupel_cubin_kernel *kernel = find(r->out, name);
    uint32_t value = word(seen->bytes + 4);
    if (kernel && seen->attribute == REGISTER_COUNT) kernel->registers = value <= 1024 ? (int)value : 0;
    if (kernel && seen->attribute == FRAME_SIZE) kernel->stack = value;
}

static void take_kernel_record(cupel_cubin_kernel *kernel, const record *seen) {
    bool triple = seen->form == FORM_BYTES && seen->size >= 12;
    switch (seen->attribute) {
    case MAX_THREADS:
        if (!triple) return;
        kernel->max_threads = 1;
        for (int i = 0; i < 3; i++) {
            uint32_t extent = word(seen->bytes + (size_t)i * 4);
            kernel->max_threads *= extent > 0 && extent <= 4096 ? extent : 1;
        }
        return;
    case REQUIRED_BLOCK:
        for (int i = 0; i < 3 && triple; i++) kernel->block[i] = word(seen->bytes + (size_t)i * 4);
        return;
    case PARAMETER_BYTES: kernel->parameters = seen->form == FORM_HALF ? seen->value : 0; return;
    case BARRIER_COUNT: kernel->barriers = seen->form == FORM_BYTE ? seen->value : 0; return;
    case TENSOR_MEMORY_1:
    case TENSOR_MEMORY_2: kernel->tensor_memory = true; return;
    default: return;
    }
}

static cupel_code take_records(reader *r, Elf_Scn *section, cupel_cubin_kernel *kernel, cupel_error *err) {
    Elf_Data *data = elf_rawdata(section, NULL);
    if (!data || (!data->d_buf && data->d_size)) return bad(err, "a table lies outside the file");
    const unsigned char *at = data->d_buf, *end = at + data->d_size;
    record seen;
    while (at < end) {
        if (!next_record(&at, end, &seen)) return bad(err, "a table holds a record of no known form");
        if (kernel)
            take_kernel_record(kernel, &seen);
        else
            take_function_record(r, &seen);
    }
    return CUPEL_OK;
}

/* ---- sections ---- */

static void take_shared(reader *r, const char *name, const GElf_Shdr *header) {
    cupel_cubin_kernel *kernel = find(r->out, name);
    if (!kernel || header->sh_size > INT32_MAX) return;
    kernel->shared = (int64_t)header->sh_size;
    kernel->reserved = r->reserves && kernel->shared >= RESERVED_SHARED ? RESERVED_SHARED : 0;
    kernel->shared -= kernel->reserved;
}

static cupel_code take_section(reader *r, Elf_Scn *section, const GElf_Shdr *header, cupel_error *err) {
    static const char info[] = ".nv.info.", shared[] = ".nv.shared.";
    const char *name = section_name(r, header);
    if (strcmp(name, ".nv.info") == 0) return take_records(r, section, NULL, err);
    if (strncmp(name, info, sizeof info - 1) == 0)
        return take_records(r, section, find(r->out, name + sizeof info - 1), err);
    if (strncmp(name, shared, sizeof shared - 1) == 0) take_shared(r, name + sizeof shared - 1, header);
    return CUPEL_OK;
}

static cupel_code find_symbols(reader *r, cupel_error *err) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(r->elf, &r->names) != 0) return bad(err, "sections have no names");
    while ((section = elf_nextscn(r->elf, section))) {
        if (!gelf_getshdr(section, &header)) return bad(err, "a section has no header");
        if (strcmp(section_name(r, &header), ".nv.shared.reserved.0") == 0) r->reserves = true;
        if (header.sh_type != SHT_SYMTAB || r->symbols) continue;
        r->symbols = elf_getdata(section, NULL);
        r->symbols_header = header;
        r->symbol_count = header.sh_entsize ? header.sh_size / header.sh_entsize : 0;
    }
    return r->symbols ? CUPEL_OK : bad(err, "it has no symbols");
}

/* The flags hold the architecture in their low byte up to version 7 of the binary interface, and in the
 * second byte from version 8 on. */
static int architecture_of(const GElf_Ehdr *header) {
    unsigned version = header->e_ident[EI_ABIVERSION];
    return (int)(version >= 8 ? header->e_flags >> 8 & 0xff : header->e_flags & 0xff);
}

static cupel_code read_all(reader *r, cupel_arena *arena, cupel_error *err) {
    GElf_Ehdr header;
    if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &header)) return bad(err, "it is no ELF file");
    if (header.e_machine != MACHINE_CUDA) return bad(err, "it is for another machine");
    r->out->architecture = architecture_of(&header);
    CUPEL_TRY(find_symbols(r, err));
    CUPEL_TRY(add_kernels(r, arena, err));
    Elf_Scn *section = NULL;
    GElf_Shdr section_header;
    while ((section = elf_nextscn(r->elf, section)) && gelf_getshdr(section, &section_header))
        CUPEL_TRY(take_section(r, section, &section_header, err));
    for (int i = 0; i < r->out->count; i++)
        if (r->out->kernels[i].registers == 0)
            return cupel_fail(err, CUPEL_UNSUPPORTED, "the binary does not say how many registers %s uses",
                              r->out->kernels[i].name);
    return CUPEL_OK;
}

cupel_code cupel_cubin_read(const void *bytes, size_t size, cupel_arena *arena, cupel_cubin *out,
                            cupel_error *err) {
    *out = (cupel_cubin){0};
    if (elf_version(EV_CURRENT) == EV_NONE) return cupel_fail(err, CUPEL_UNSUPPORTED, "libelf is too old");
    /* libelf wants memory that it may write to */
    char *copy = cupel_arena_raw(arena, size ? size : 1, 1);
    if (!copy) return cupel_fail(err, CUPEL_MEMORY, "no memory for a cubin");
    memcpy(copy, bytes, size);
    reader r = {.elf = elf_memory(copy, size), .out = out};
    if (!r.elf) return bad(err, "it is no ELF file");
    cupel_code code = read_all(&r, arena, err);
    elf_end(r.elf);
    if (code != CUPEL_OK) *out = (cupel_cubin){0};
    return code;
}

const cupel_cubin_kernel *cupel_cubin_find(const cupel_cubin *cubin, const char *name) {
    return find(cubin, name);
}
