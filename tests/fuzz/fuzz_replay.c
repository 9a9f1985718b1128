/* Runs a fuzz target over the files of the folders given, so that seeds are regression tests in a build
 * without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(1 << 20);
    if (!file || !data) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    size_t size = fread(data, 1, 1 << 20, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int replay_folder(const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count += replay_file(path);
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) count += replay_folder(argv[i]);
    printf("%d inputs\n", count);
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    return argc > 1 && count == 0; /* named folders that hold nothing are a mistake */
}
