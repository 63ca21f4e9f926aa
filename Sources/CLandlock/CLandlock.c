#define _GNU_SOURCE
#include "CLandlock.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The rights to change a file's content or a folder's entries, of the first version.
#define WRITES (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
                LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | \
                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
                LANDLOCK_ACCESS_FS_MAKE_SYM)
/// Of the second and the third version, which older headers lack.
#define REFER (1ULL << 13)
#define TRUNCATE (1ULL << 14)

static int allow(int rules, uint64_t rights, const char *path) {
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0) return -errno;
    int error = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) ? -errno : 0;
    close(rule.parent_fd);
    return error;
}

int clandlock_limit_writes(const char *const *folders, int count) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version <= 0) return version == 0 || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
    uint64_t rights = WRITES | (version >= 2 ? REFER : 0) | (version >= 3 ? TRUNCATE : 0);
    struct landlock_ruleset_attr handled = {.handled_access_fs = rights};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (rules < 0) return -errno;
    int error = allow(rules, rights & (LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE), "/dev/null");
    for (int i = 0; i < count && !error; i++) error = allow(rules, rights, folders[i]);
    if (!error && syscall(SYS_landlock_restrict_self, rules, 0)) error = -errno;
    close(rules);
    return error;
}
