// Opening a path without following symbolic links, for targets that share nothing else.
#ifndef CWALK_H
#define CWALK_H

/// Opens (O_PATH) what is at a path. -errno: -ELOOP for a symbolic link anywhere on the way.
/// - flags: O_DIRECTORY or 0. Without it, an automount is meant itself.
int cwalk_open(const char *path, int flags);

#endif
