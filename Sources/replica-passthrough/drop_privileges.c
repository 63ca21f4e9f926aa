#define _GNU_SOURCE
#include "registering.h"
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Permitted and effective set only. Inheritable capabilities would survive an exec; there are none.
static bool keep_only_sys_admin(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{0}, {0}};
    sets[0].effective = sets[0].permitted = 1u << CAP_SYS_ADMIN;
    return syscall(SYS_capset, &header, sets) == 0;
}

bool become_caller(void) {
    uid_t user = getuid();
    gid_t group = getgid();
    struct rlimit none = {0, 0};
    // Root needs no help.
    if (user == 0) return false;
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return false;
    if (setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return false;
    if (!keep_only_sys_admin()) return false;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return false;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0)
        return false;
    return syscall(SYS_close_range, 1, ~0u, 0) == 0;
}
