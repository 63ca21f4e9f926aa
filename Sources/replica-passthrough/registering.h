#pragma once
#include <stdbool.h>

// The caller (caller.c)

/// Whether the descriptor is a socket whose other end was created by the user who started this program.
bool has_caller(int channel);

// Its privileges (drop_privileges.c)

/// Permanently drops all privileges except CAP_SYS_ADMIN, and becomes the user who started it: the kernel does the I/O
/// on registered files with this program's remaining privileges. False if others remain, or that capability is missing.
bool become_caller(void);

// The checks of its requests (checks.c): 0 or -errno.

/// Whether it is a FUSE device whose filesystem was mounted in this namespace by this user.
int check_session(int device);
/// Whether it is a regular file that this user may read and write, on a filesystem whose writes check no capabilities.
int check_file(int file);
