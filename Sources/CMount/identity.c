#define _GNU_SOURCE
#include "CMount.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif

/// statx(2) of the mount, without a request to its daemon.
static int status_of(int place, unsigned mask, struct statx *out) {
    return statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, out);
}

int cmount_identify(int file, struct cmount_identity *out) {
    struct statx status;
    if (status_of(file, 0, &status) != 0) return errno;
    *out = (struct cmount_identity){
        .number = status.stx_mnt_id, .major = status.stx_dev_major, .minor = status.stx_dev_minor};
    // Since Linux 6.8; the other number is reused.
    if (status_of(file, STATX_MNT_ID_UNIQUE, &status) == 0 && status.stx_mask & STATX_MNT_ID_UNIQUE)
        out->unique = status.stx_mnt_id;
    return 0;
}

bool cmount_is_same(const struct cmount_identity *one, const struct cmount_identity *other) {
    return one->number == other->number && one->unique == other->unique && one->major == other->major &&
           one->minor == other->minor;
}

/// Decodes the octal escapes in a field of the mount table.
static char *unescaped(const char *field) {
    char *path = malloc(strlen(field) + 1), *at = path;
    if (!path) return NULL;
    while (*field) {
        unsigned byte;
        if (*field == '\\' && sscanf(field, "\\%3o", &byte) == 1) {
            *at++ = (char)byte;
            field += 4;
        } else {
            *at++ = *field++;
        }
    }
    *at = 0;
    return path;
}

/// The mount's line in the table, to be freed. NULL if it is not mounted, and was_read says that, or the table can't be read.
static char *find_line(const struct cmount_identity *wanted, bool *was_read) {
    *was_read = false;
    FILE *table = fopen("/proc/thread-self/mountinfo", "re");
    if (!table) return NULL;
    char *line = NULL;
    size_t size = 0;
    bool is_found = false;
    while (!is_found && getline(&line, &size, table) > 0) {
        unsigned long long number;
        unsigned major, minor;
        is_found = sscanf(line, "%llu %*u %u:%u", &number, &major, &minor) == 3 && number == wanted->number &&
                   major == wanted->major && minor == wanted->minor;
    }
    *was_read = is_found || feof(table);
    fclose(table);
    if (is_found) return line;
    free(line);
    return NULL;
}

static char *line_of(const struct cmount_identity *wanted) {
    bool was_read;
    return find_line(wanted, &was_read);
}

char *cmount_path(const struct cmount_identity *wanted) {
    char *line = line_of(wanted), *field = NULL, *path = NULL;
    if (line && sscanf(line, "%*u %*u %*s %*s %ms", &field) == 1) path = unescaped(field);
    free(field);
    free(line);
    return path;
}

/// Whether a line, or NULL, has this type and, unless it is NULL, this source.
static bool has(const char *line, const char *type, const char *source) {
    const char *dash = line ? strstr(line, " - ") : NULL;
    char *fields[2] = {NULL, NULL}, *texts[2] = {NULL, NULL};
    if (dash) sscanf(dash + 3, "%ms %ms", &fields[0], &fields[1]);
    for (int i = 0; i < 2; i++) texts[i] = fields[i] ? unescaped(fields[i]) : NULL;
    bool is_both = texts[0] && texts[1] && strcmp(texts[0], type) == 0 && (!source || strcmp(texts[1], source) == 0);
    for (int i = 0; i < 2; i++) free(fields[i]), free(texts[i]);
    return is_both;
}

bool cmount_is_from(const struct cmount_identity *mount, const char *type, const char *source) {
    char *line = line_of(mount);
    bool is_from = has(line, type, source);
    free(line);
    return is_from;
}

bool cmount_is_on(const struct cmount_identity *mount, uint64_t below, const char *type) {
    char *line = line_of(mount);
    unsigned long long parent;
    bool is_on = has(line, type, NULL) && sscanf(line, "%*u %llu", &parent) == 1 && parent == below;
    free(line);
    return is_on;
}

bool cmount_is_gone(int root) {
    struct cmount_identity mount;
    if (cmount_identify(root, &mount) != 0) return false;
    bool was_read;
    char *line = find_line(&mount, &was_read);
    bool is_listed = line != NULL;
    free(line);
    return was_read && !is_listed;
}
