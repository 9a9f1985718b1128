#include "bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explanation.h"
#include "json_field.h"
#include "likely_cause.h"
#include "npy.h"
#include "repro.h"
#include "schedule.h"
#include "store.h"
#include "text.h"
#include "wording.h"

enum { BUNDLE_FORMAT = 1, PATH_SIZE = 2048 };

static const char temporary_prefix[] = ".new-";

/* ---- folders ---- */

static int remove_entry(const char *path, const struct stat *info, int flag, struct FTW *walk) {
    (void)info, (void)flag, (void)walk;
    return remove(path);
}

static void remove_tree(const char *path) {
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void cupel_bundle_sweep(const char *root) {
    DIR *folder = opendir(root);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strncmp(entry->d_name, temporary_prefix, sizeof temporary_prefix - 1) != 0) continue;
        long pid = strtol(entry->d_name + sizeof temporary_prefix - 1, NULL, 10);
        char path[PATH_SIZE];
        if (pid <= 0 || (kill((pid_t)pid, 0) == 0 || errno != ESRCH)) continue;
        if (snprintf(path, sizeof path, "%s/%s", root, entry->d_name) < (int)sizeof path) remove_tree(path);
    }
    closedir(folder);
}

/* Puts the finished folder in place of whatever bears its name, in one step. */
static cupel_code move_into_place(const char *temporary, const char *path, cupel_error *err) {
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0) return CUPEL_OK;
    if (errno == EEXIST && renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
        remove_tree(temporary);
        return CUPEL_OK;
    }
    /* file systems without exchange: a moment without the bundle, never one with half of it */
    if (errno == EINVAL) {
        char old[PATH_SIZE + 8];
        snprintf(old, sizeof old, "%s.old", temporary);
        bool replaced = rename(path, old) == 0;
        if (rename(temporary, path) == 0) {
            if (replaced) remove_tree(old);
            return CUPEL_OK;
        }
        if (replaced) (void)rename(old, path);
    }
    return cupel_fail(err, CUPEL_IO, "cannot move the bundle to %s: %s", path, strerror(errno));
}

/* ---- contents ---- */

static uint64_t file_hash(const char *path) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) return 0;
    for (int c; (c = getc(file)) != EOF;) hash = (hash ^ (unsigned)c) * UINT64_C(0x100000001b3);
    fclose(file);
    return hash;
}

/* The way from one absolute path to another, "../../kernel.cu"; empty when it is too long. */
static void relative_path(const char *from, const char *to, char *out, size_t size) {
    size_t common = 0, used = 0;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/') common = i;
    if (strncmp(from, to, strlen(from)) == 0 && to[strlen(from)] == '/') common = strlen(from);
    out[0] = '\0';
    for (const char *at = from + common; *at && used < size; at++)
        if (*at == '/') used += (size_t)snprintf(out + used, size - used, "../");
    if (used < size) used += (size_t)snprintf(out + used, size - used, "%s", to + common + 1);
    if (used >= size) out[0] = '\0';
}

static cupel_code write_in(const char *folder, const char *name, const void *bytes, size_t length,
                           cupel_error *err) {
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return cupel_fail(err, CUPEL_IO, "the path is too long: %.200s/%s", folder, name);
    return cupel_text_write(path, bytes, length, err);
}

static cupel_code write_array(const char *folder, const char *name, const char *descr, int rank,
                              const int64_t *shape, const void *data, cupel_error *err) {
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/%s.npy", folder, name) >= (int)sizeof path)
        return cupel_fail(err, CUPEL_IO, "the path is too long: %.200s/%s", folder, name);
    return cupel_npy_write(path, descr, rank, shape, data, err);
}

static cupel_code write_inputs(const cupel_bundle *bundle, const char *folder, cupel_error *err) {
    const cupel_case *c = bundle->trial->c;
    char inputs[PATH_SIZE];
    if (!c) return CUPEL_OK;
    if (snprintf(inputs, sizeof inputs, "%s/inputs", folder) >= (int)sizeof inputs)
        return cupel_fail(err, CUPEL_IO, "the path is too long: %.200s", folder);
    CUPEL_TRY(cupel_store_make(inputs, err));
    for (int t = 0; c && t < c->tensor_count; t++) {
        const cupel_case_tensor *tensor = &c->tensors[t];
        if (!(bundle->contract->tensors[t].roles & CUPEL_ROLE_INPUT) || !tensor->values) continue;
        CUPEL_TRY(write_array(inputs, bundle->contract->tensors[t].name, cupel_format_of(tensor->type)->npy,
                              tensor->rank, tensor->shape, tensor->values, err));
    }
    return CUPEL_OK;
}

/* An output as a run of the trial left it. */
static cupel_code write_output(const cupel_bundle *bundle, const cupel_graph_output *output, int r,
                               const char *name, const char *folder, cupel_arena *arena, cupel_error *err) {
    const cupel_trial *trial = bundle->trial;
    int tensor = cupel_contract_tensor(bundle->contract, output->name);
    const cupel_observation *run = r < trial->run_count ? trial->runs[r].observation : NULL;
    if (tensor < 0 || !trial->c || !run) return CUPEL_OK;
    const cupel_case_tensor *t = &trial->c->tensors[tensor];
    if (t->buffer >= run->buffer_count || !run->buffers[t->buffer].bytes)
        return CUPEL_OK; /* the run left nothing */
    void *elements = cupel_arena_raw(arena, (size_t)t->count, cupel_format_of(t->type)->size);
    if (!elements) return cupel_fail(err, CUPEL_MEMORY, "no memory for output %s", output->name);
    cupel_case_gather(trial->c, tensor, run->buffers[t->buffer].bytes, elements);
    return write_array(folder, name, cupel_format_of(t->type)->npy, t->rank, t->shape, elements, err);
}

/* Both runs, where a finding is about two that differ. */
static cupel_code write_runs(const cupel_bundle *bundle, const cupel_graph_output *output, const char *folder,
                             cupel_arena *arena, cupel_error *err) {
    const cupel_finding *finding = bundle->finding;
    CUPEL_TRY(write_output(bundle, output, 0, "output", folder, arena, err));
    if (!cupel_word_has_runs(finding)) return CUPEL_OK;
    CUPEL_TRY(write_output(bundle, output, finding->run_a.index, "output_a", folder, arena, err));
    return write_output(bundle, output, finding->run_b.index, "output_b", folder, arena, err);
}

/* The oracle's arrays; NaN stands where an element is not judged. The finding's own element is MPFR's. */
static cupel_code write_allowed(const cupel_bundle *bundle, int output, const char *folder,
                                cupel_arena *arena, cupel_error *err) {
    const cupel_allowed *allowed = &bundle->trial->allowed[output];
    const cupel_finding *finding = bundle->finding;
    const double *sources[] = {allowed->value, allowed->lo, allowed->hi};
    static const char *const names[] = {"exact", "allowed_lo", "allowed_hi"};
    const double own[] = {finding->exact.value, finding->exact.lo, finding->exact.hi};
    for (int i = 0; i < 3; i++) {
        double *values = cupel_arena_raw(arena, (size_t)allowed->count, sizeof *values);
        if (!values || !sources[i])
            return values ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "no memory for the allowed set");
        for (int64_t e = 0; e < allowed->count; e++) {
            bool certified = finding->certified && finding->output == output && finding->index == e;
            bool judged = allowed->reasons[e] == CUPEL_REASON_JUDGED;
            values[e] = certified ? own[i] : judged ? sources[i][e] : NAN;
        }
        CUPEL_TRY(write_array(folder, names[i], "<f8", allowed->rank, allowed->shape, values, err));
    }
    return CUPEL_OK;
}

static cupel_code write_tensors(const cupel_bundle *bundle, const char *folder, cupel_arena *arena,
                                cupel_error *err) {
    const cupel_trial *trial = bundle->trial;
    CUPEL_TRY(write_inputs(bundle, folder, err));
    if (!trial->graph || trial->graph->output_count == 0) return CUPEL_OK;
    int output = bundle->finding->output >= 0 && bundle->finding->output < trial->graph->output_count
                     ? bundle->finding->output
                     : 0;
    CUPEL_TRY(write_runs(bundle, &trial->graph->outputs[output], folder, arena, err));
    return trial->allowed ? write_allowed(bundle, output, folder, arena, err) : CUPEL_OK;
}

/* Folders are kept as absolute paths: a bundle may be replayed from anywhere. */
static json_t *text_array(const char *const *texts, int count, bool folders) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        char absolute[PATH_MAX];
        const char *text = folders && realpath(texts[i], absolute) ? absolute : texts[i];
        json_array_append_new(array, json_string(text));
    }
    return array;
}

static cupel_code write_meta(const cupel_bundle *bundle, const char *signature, const char *folder,
                             cupel_error *err) {
    char absolute[PATH_MAX], here[PATH_MAX], relative[PATH_MAX] = "", hash[32], cause[256];
    const char *path = realpath(bundle->contract_path, absolute) ? absolute : bundle->contract_path;
    if (path == absolute && realpath(folder, here)) relative_path(here, absolute, relative, sizeof relative);
    snprintf(hash, sizeof hash, "%016" PRIx64, file_hash(bundle->contract->source));
    cupel_likely_cause_write(&bundle->finding->cause, cause, sizeof cause);
    json_t *meta = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:b, s:o, s:o, s:i, s:s, s:s}", "bundle",
        BUNDLE_FORMAT, "contract_path", path, "contract_relative", relative, "contract", bundle->contract->id,
        "executor", bundle->executor, "gate", cupel_gate_id(bundle->finding->gate), "signature", signature,
        "kind", cupel_finding_title(bundle->finding), "seed", cupel_json_from_number(bundle->seed),
        "source_hash", hash, "provisional", (int)bundle->provisional, "defines",
        text_array(bundle->defines, bundle->define_count, false), "includes",
        text_array(bundle->includes, bundle->include_count, true), "traits",
        bundle->report ? bundle->report->necessary_traits : 0, "region",
        bundle->report ? bundle->report->region : "", "cause", bundle->provisional ? "" : cause);
    char *text = meta ? json_dumps(meta, JSON_INDENT(2)) : NULL;
    cupel_code code =
        text ? write_in(folder, "bundle.json", text, strlen(text), err)
             : cupel_fail(err, CUPEL_IO, "bundle.json cannot hold these paths; are they UTF-8? %s", path);
    free(text);
    json_decref(meta);
    return code;
}

/* Adds to case.yaml, as comments, which two runs differ: the recipe itself holds what is special about the
 * second. */
static cupel_code name_runs(const cupel_bundle *bundle, cupel_arena *arena, char **recipe, cupel_error *err) {
    const cupel_finding_run *const runs[] = {&bundle->finding->run_a, &bundle->finding->run_b};
    if (!cupel_word_has_runs(bundle->finding)) return CUPEL_OK;
    for (int i = 0; i < 2; i++) {
        char schedule[64], history[64] = "none";
        cupel_schedule_write(runs[i]->schedule, schedule, sizeof schedule);
        if (runs[i]->history) cupel_history_write(bundle->recipe, history, sizeof history);
        *recipe =
            cupel_arena_printf(arena, "%s# run %c: schedule %s, poison %s, history %s\n", *recipe, "AB"[i],
                               schedule, runs[i] -> poison == CUPEL_POISON_NAN ? "nan" : "finite", history);
        if (!*recipe) return cupel_fail(err, CUPEL_MEMORY, "no memory for case.yaml");
    }
    return CUPEL_OK;
}

/* A bundle is whole without it: where it cannot be made, *told says why. */
static cupel_code write_repro(const cupel_bundle *bundle, const char *folder, cupel_arena *arena,
                              const char **told, cupel_error *err) {
    cupel_error problem = {0};
    char *text;
    const char *name;
    if (cupel_repro_write(bundle, arena, &text, &name, &problem) != CUPEL_OK) {
        *told =
            cupel_arena_printf(arena, "There is no file that shows this without cupel: %s.", problem.text);
        return CUPEL_OK;
    }
    *told =
        cupel_arena_printf(arena, "`%s` shows it without cupel; how to compile it stands at its top.", name);
    return write_in(folder, name, text, strlen(text), err);
}

static cupel_code fill_folder(const cupel_bundle *bundle, const char *signature, const char *path,
                              const char *folder, cupel_error *err) {
    cupel_arena *arena = cupel_arena_create(0);
    if (!arena) return cupel_fail(err, CUPEL_MEMORY, "no memory for the bundle");
    char *recipe = NULL;
    cupel_code code = cupel_recipe_write(bundle->contract, bundle->recipe, arena, &recipe, err);
    if (code == CUPEL_OK) code = name_runs(bundle, arena, &recipe, err);
    if (code == CUPEL_OK) code = write_in(folder, "case.yaml", recipe, strlen(recipe), err);
    const char *repro = NULL;
    if (code == CUPEL_OK) code = write_repro(bundle, folder, arena, &repro, err);
    char *explanation = code == CUPEL_OK ? cupel_explanation_write(bundle, path, repro, arena) : NULL;
    if (code == CUPEL_OK && !explanation)
        code = cupel_fail(err, CUPEL_MEMORY, "no memory for the explanation");
    if (code == CUPEL_OK) code = write_in(folder, "explain.md", explanation, strlen(explanation), err);
    if (code == CUPEL_OK) code = write_tensors(bundle, folder, arena, err);
    if (code == CUPEL_OK) code = write_meta(bundle, signature, folder, err);
    cupel_arena_free(arena);
    cupel_store_flush(folder);
    return code;
}

/* ---- the whole ---- */

static json_t *load_meta(const char *path, cupel_error *err) {
    char file[PATH_SIZE];
    json_error_t problem;
    struct stat info;
    if (snprintf(file, sizeof file, "%s/bundle.json", path) >= (int)sizeof file) {
        (void)cupel_fail(err, CUPEL_IO, "the path is too long: %.200s", path);
        return NULL;
    }
    if (stat(file, &info) == 0 && !S_ISREG(info.st_mode)) {
        (void)cupel_fail(err, CUPEL_IO, "%s: expected a file", file);
        return NULL;
    }
    json_t *meta = json_load_file(file, JSON_REJECT_DUPLICATES, &problem);
    if (!meta) (void)cupel_fail(err, CUPEL_IO, "%s is not a bundle: %s", path, problem.text);
    return meta;
}

/* A strictly simpler case of the very same source stands there already. */
static bool keeps_existing(const cupel_bundle *bundle, const char *path) {
    json_t *meta = load_meta(path, NULL);
    if (!meta) return false;
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, file_hash(bundle->contract->source));
    const char *theirs = json_string_value(json_object_get(meta, "source_hash"));
    bool comparable =
        theirs && strcmp(theirs, hash) == 0 && json_is_false(json_object_get(meta, "provisional"));
    json_decref(meta);
    cupel_recipe existing;
    return comparable && cupel_bundle_recipe(path, bundle->contract, &existing, NULL) == CUPEL_OK &&
           cupel_recipe_compare(bundle->contract, &existing, bundle->recipe) < 0;
}

static void name_part(const char *text, char *out, size_t size) {
    snprintf(out, size, "%s", text);
    for (char *c = out; *c; c++)
        if (*c == '/' || (c == out && *c == '.')) *c = '_';
}

cupel_code cupel_bundle_expect_folder(const char *directory, const char *contract_id, cupel_error *err) {
    char path[PATH_SIZE], id[128];
    struct stat info;
    name_part(contract_id, id, sizeof id);
    if (snprintf(path, sizeof path, "%s/crashes/%s", directory, id) >= (int)sizeof path)
        return cupel_fail(err, CUPEL_IO, "the path is too long: %.200s", directory);
    while (stat(path, &info) != 0) { /* the deepest part that is there */
        char *slash = strrchr(path, '/');
        if ((errno != ENOENT && errno != ENOTDIR) || !slash)
            return cupel_fail(err, CUPEL_IO, "findings cannot be saved in %s: %s", directory,
                              strerror(errno));
        *slash = '\0';
        if (slash == path)
            snprintf(path, sizeof path, "/");
        else if (!strchr(path, '/') && stat(path, &info) != 0)
            snprintf(path, sizeof path, ".");
    }
    if (!S_ISDIR(info.st_mode))
        return cupel_fail(err, CUPEL_IO, "findings cannot be saved in %s: %s is not a folder", directory,
                          path);
    if (access(path, W_OK | X_OK) != 0)
        return cupel_fail(err, CUPEL_UNABLE,
                          "findings cannot be saved in %s: %s; choose another folder with -o", directory,
                          strerror(errno));
    return CUPEL_OK;
}

/* The bundle's own folder, and the folder of that; false when a path is too long. */
static bool choose_folder(const cupel_bundle *bundle, const char *directory, const char *signature,
                          char *path, size_t size, char *root, size_t root_size) {
    char id[128], name[160];
    if (bundle->place) {
        const char *slash = strrchr(bundle->place, '/');
        int length = slash == bundle->place ? 1 : slash ? (int)(slash - bundle->place) : 0;
        return snprintf(root, root_size, "%.*s", length ? length : 1, length ? bundle->place : ".") <
                   (int)root_size &&
               snprintf(path, size, "%s", bundle->place) < (int)size;
    }
    name_part(bundle->contract->id, id, sizeof id);
    name_part(signature, name, sizeof name);
    bool here = strcmp(directory, ".") == 0;
    return snprintf(root, root_size, "%s%scrashes/%s", here ? "" : directory, here ? "" : "/", id) <
               (int)root_size &&
           snprintf(path, size, "%s/%s-%s", root, cupel_gate_id(bundle->finding->gate), name) < (int)size;
}

/* Nothing but a bundle of the same contract is ever replaced. */
static cupel_code expect_room(const cupel_bundle *bundle, const char *path, cupel_error *err) {
    struct stat info;
    if (lstat(path, &info) != 0) return CUPEL_OK;
    if (!S_ISDIR(info.st_mode))
        return cupel_fail(err, CUPEL_IO, "%s is in the way: expected the folder of a bundle, found %s", path,
                          S_ISLNK(info.st_mode) ? "a symbolic link" : "a file");
    json_t *meta = load_meta(path, NULL);
    const char *theirs = json_string_value(json_object_get(meta, "contract"));
    cupel_code code = CUPEL_OK;
    if (theirs && strcmp(theirs, bundle->contract->id) != 0)
        code = cupel_fail(err, CUPEL_IO, "%s is in the way: it holds a bundle of the contract '%.100s'", path,
                          theirs);
    json_decref(meta);
    return code;
}

cupel_code cupel_bundle_write(const cupel_bundle *bundle, const char *directory, char *path, size_t size,
                              cupel_error *err) {
    char signature[160], root[PATH_SIZE], temporary[PATH_SIZE + 32];
    cupel_finding_signature(bundle->finding, signature, sizeof signature);
    if (!choose_folder(bundle, directory, signature, path, size, root, sizeof root))
        return cupel_fail(err, CUPEL_IO, "the path is too long: %.200s", directory);
    CUPEL_TRY(cupel_store_make(root, err));
    cupel_bundle_sweep(root);
    CUPEL_TRY(expect_room(bundle, path, err));
    if (keeps_existing(bundle, path)) return CUPEL_OK;
    snprintf(temporary, sizeof temporary, "%s/%s%ld", root, temporary_prefix, (long)getpid());
    remove_tree(temporary);
    CUPEL_TRY(cupel_store_make(temporary, err));
    cupel_code code = fill_folder(bundle, signature, path, temporary, err);
    if (code == CUPEL_OK) code = move_into_place(temporary, path, err);
    if (code != CUPEL_OK) remove_tree(temporary);
    cupel_store_flush(root);
    return code;
}

void cupel_bundle_remove(const char *path) {
    char hidden[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;
    if (snprintf(hidden, sizeof hidden, "%.*s%s%ld", folder, path, temporary_prefix, (long)getpid()) >=
        (int)sizeof hidden)
        return;
    remove_tree(hidden);
    if (rename(path, hidden) == 0) remove_tree(hidden);
}

/* Where the contract is no more where it was, it may have moved together with the bundle. */
static void find_contract(const json_t *meta, const char *path, cupel_bundle_info *out) {
    const char *relative = json_string_value(json_object_get(meta, "contract_relative"));
    char moved[sizeof out->contract_path];
    if (!relative || !relative[0] || access(out->contract_path, F_OK) == 0) return;
    if (snprintf(moved, sizeof moved, "%s/%s", path, relative) >= (int)sizeof moved) return;
    char *real = realpath(moved, NULL);
    if (real && strlen(real) < sizeof out->contract_path) memcpy(out->contract_path, real, strlen(real) + 1);
    free(real);
}

bool cupel_bundle_source_changed(const cupel_bundle_info *info, const cupel_contract *contract) {
    char hash[32];
    uint64_t now = file_hash(contract->source);
    snprintf(hash, sizeof hash, "%016" PRIx64, now);
    return now != 0 && info->source_hash[0] && strspn(info->source_hash, "0") < strlen(info->source_hash) &&
           strcmp(hash, info->source_hash) != 0;
}

bool cupel_bundle_exists(const char *path) {
    char file[PATH_SIZE];
    struct stat info;
    return snprintf(file, sizeof file, "%s/bundle.json", path) < (int)sizeof file && stat(file, &info) == 0;
}

static cupel_code read_names(const cupel_json_fields *f, cupel_bundle_info *out) {
    uint64_t format;
    cupel_gate gate;
    CUPEL_TRY(cupel_json_number(f, "bundle", INT64_MAX, &format));
    if (format != BUNDLE_FORMAT)
        return cupel_fail(f->err, CUPEL_SYNTAX, "%s: expected bundle format %d", f->file, BUNDLE_FORMAT);
    CUPEL_TRY(cupel_json_text(f, "contract_path", true, out->contract_path, sizeof out->contract_path));
    CUPEL_TRY(cupel_json_text(f, "contract", true, out->contract_id, sizeof out->contract_id));
    CUPEL_TRY(cupel_json_text(f, "executor", true, out->executor, sizeof out->executor));
    CUPEL_TRY(cupel_json_text(f, "signature", true, out->signature, sizeof out->signature));
    CUPEL_TRY(cupel_json_text(f, "gate", true, out->gate, sizeof out->gate));
    if (!cupel_gate_parse(out->gate, &gate))
        return cupel_fail(f->err, CUPEL_SYNTAX, "%s: unknown gate '%s'", f->file, out->gate);
    if (cupel_executor_find(out->executor) == NULL)
        return cupel_fail(f->err, CUPEL_SYNTAX, "%s: unknown executor '%s'", f->file, out->executor);
    return CUPEL_OK;
}

/* What may be absent; what is there must make sense: another macro, say, is another kernel. */
static cupel_code read_rest(const cupel_json_fields *f, cupel_bundle_info *out) {
    enum { TRAITS_ALL = 2 * CUPEL_TRAIT_VARIANT - 1 };
    char ignored[sizeof out->contract_path];
    uint64_t traits;
    CUPEL_TRY(cupel_json_text(f, "contract_relative", false, ignored, sizeof ignored));
    CUPEL_TRY(cupel_json_text(f, "kind", false, ignored, sizeof ignored));
    CUPEL_TRY(cupel_json_text(f, "source_hash", false, out->source_hash, sizeof out->source_hash));
    CUPEL_TRY(cupel_json_flag(f, "provisional", &out->provisional));
    CUPEL_TRY(cupel_json_text(f, "region", false, out->region, sizeof out->region));
    CUPEL_TRY(cupel_json_number(f, "traits", TRAITS_ALL, &traits));
    out->traits = (int)traits;
    CUPEL_TRY(cupel_json_text(f, "cause", false, out->cause, sizeof out->cause));
    CUPEL_TRY(cupel_json_number(f, "seed", UINT64_MAX, &out->seed));
    CUPEL_TRY(cupel_json_texts(f, "defines", out->defines[0], sizeof out->defines[0], CUPEL_BUNDLE_TEXTS_MAX,
                               &out->define_count));
    return cupel_json_texts(f, "includes", out->includes[0], sizeof out->includes[0], CUPEL_BUNDLE_TEXTS_MAX,
                            &out->include_count);
}

cupel_code cupel_bundle_open(const char *path, cupel_bundle_info *out, cupel_error *err) {
    memset(out, 0, sizeof *out);
    json_t *meta = load_meta(path, err);
    if (!meta) return CUPEL_IO;
    char file[PATH_SIZE];
    (void)snprintf(file, sizeof file, "%s/bundle.json", path); /* it was read from there */
    cupel_json_fields fields = {meta, file, err};
    cupel_code code = read_names(&fields, out);
    if (code == CUPEL_OK) code = read_rest(&fields, out);
    if (code == CUPEL_OK) find_contract(meta, path, out);
    json_decref(meta);
    return code;
}

/* Where a case's text gives a dim its value: the first "NAME:" behind "dims:". */
static const char *find_dim(const char *text, const char *name) {
    char key[80];
    const char *dims = strstr(text, "dims:");
    size_t length = (size_t)snprintf(key, sizeof key, "%.64s:", name);
    for (const char *at = dims ? dims + 5 : NULL; at && (at = strstr(at, key)) != NULL; at += length)
        if (strchr(" {,\n", at[-1])) return at;
    return dims ? dims : text;
}

/* The contract may have become narrower since. */
static cupel_code expect_claimed(const cupel_contract *contract, const cupel_recipe *recipe, const char *file,
                                 const char *text, cupel_error *err) {
    for (int i = 0; i < contract->dim_count; i++) {
        const cupel_dim *dim = &contract->dims[i];
        if (recipe->dims[i] >= dim->lo && recipe->dims[i] <= dim->hi) continue;
        int line = 1, column = 1;
        for (const char *at = text, *end = find_dim(text, dim->name); at < end; at++) {
            column = *at == '\n' ? 1 : column + 1;
            line += *at == '\n';
        }
        return cupel_fail_at(err, CUPEL_RANGE, file, line, column,
                             "dim %s: expected %" PRId64 "..%" PRId64
                             " as the contract '%s' claims, found %" PRId64,
                             dim->name, dim->lo, dim->hi, contract->id, recipe->dims[i]);
    }
    return CUPEL_OK;
}

cupel_code cupel_bundle_recipe(const char *path, const cupel_contract *contract, cupel_recipe *out,
                               cupel_error *err) {
    char file[PATH_SIZE];
    if (snprintf(file, sizeof file, "%s/case.yaml", path) >= (int)sizeof file)
        return cupel_fail(err, CUPEL_IO, "the path is too long: %.200s", path);
    cupel_arena *arena = cupel_arena_create(0);
    if (!arena) return cupel_fail(err, CUPEL_MEMORY, "no memory for %s", file);
    char *text;
    size_t length;
    struct stat info;
    cupel_code code = stat(file, &info) == 0 && !S_ISREG(info.st_mode)
                          ? cupel_fail(err, CUPEL_IO, "%s: expected a file", file)
                          : cupel_text_read(file, arena, &text, &length, err);
    if (code == CUPEL_OK) code = cupel_recipe_read(contract, file, text, length, out, err);
    if (code == CUPEL_OK) code = expect_claimed(contract, out, file, text, err);
    cupel_arena_free(arena);
    return code;
}
