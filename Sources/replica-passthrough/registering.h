#pragma once
#include <stdbool.h>

// Who it works for (caller.c)

/// Whether the descriptor is a socket whose other end was made by the user that started this program.
bool has_caller(int channel);
/// Gives up all but CAP_SYS_ADMIN, for good, as the user that started it: the kernel does the I/O on registered files
/// with what this program has left. False if anything remains, or that capability is missing.
bool become_caller(void);

// What it is asked for (checks.c): 0 or -errno.

/// A FUSE device whose filesystem is mounted here, by this user.
int check_session(int device);
/// A regular file that this user may read and write, on a filesystem whose writes ask for no capability.
int check_file(int file);
