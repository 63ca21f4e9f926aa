#define _GNU_SOURCE
#include "identity.h"
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

int cfuse_mount_identify(int file, struct cfuse_mount_identity *out) {
    struct statx status;
    if (status_of(file, 0, &status) != 0) return errno;
    *out = (struct cfuse_mount_identity){
        .number = status.stx_mnt_id, .major = status.stx_dev_major, .minor = status.stx_dev_minor};
    // Since Linux 6.8; the other number is reused.
    if (status_of(file, STATX_MNT_ID_UNIQUE, &status) == 0 && status.stx_mask & STATX_MNT_ID_UNIQUE)
        out->unique = status.stx_mnt_id;
    return 0;
}

bool cfuse_mount_is_same(const struct cfuse_mount_identity *one, const struct cfuse_mount_identity *other) {
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

/// The mount's line in the table, to be freed. NULL if it is not mounted.
static char *line_of(const struct cfuse_mount_identity *wanted) {
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
    fclose(table);
    if (is_found) return line;
    free(line);
    return NULL;
}

char *cfuse_mount_path(const struct cfuse_mount_identity *wanted) {
    char *line = line_of(wanted), *field = NULL, *path = NULL;
    if (line && sscanf(line, "%*u %*u %*s %*s %ms", &field) == 1) path = unescaped(field);
    free(field);
    free(line);
    return path;
}

/// A type or a source in a line of the table, to be freed: the field with this number after the dash.
static char *field_after_dash(const char *line, int number) {
    char *rest = line ? strstr(line, " - ") : NULL, *type = NULL, *source = NULL;
    if (rest) sscanf(rest + 3, "%ms %ms", &type, &source);
    char *wanted = number == 0 ? type : source, *text = wanted ? unescaped(wanted) : NULL;
    free(type);
    free(source);
    return text;
}

bool cfuse_mount_is_from(const struct cfuse_mount_identity *mount, const char *type, const char *source) {
    char *line = line_of(mount), *its_type = field_after_dash(line, 0), *its_source = field_after_dash(line, 1);
    bool is_from = its_type && its_source && strcmp(its_type, type) == 0 && strcmp(its_source, source) == 0;
    free(its_source);
    free(its_type);
    free(line);
    return is_from;
}

bool cfuse_mount_is_on(const struct cfuse_mount_identity *mount, uint64_t below, const char *type) {
    char *line = line_of(mount), *rest = line ? strstr(line, " - ") : NULL;
    unsigned long long parent;
    size_t length = strlen(type);
    bool is_on = rest && sscanf(line, "%*u %llu", &parent) == 1 && parent == below &&
                 strncmp(rest + 3, type, length) == 0 && rest[3 + length] == ' ';
    free(line);
    return is_on;
}
