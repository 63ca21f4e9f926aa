#ifndef CFUSE_UNMOUNTING_H
#define CFUSE_UNMOUNTING_H
#include "CFuse.h"

/// Unmounts what is at a path by fusermount3, which checks whose it is. 0 or an errno.
int cfuse_run_fusermount(const char *path, bool lazy);
/// Detaches the mount whose root is held, even if it is in use; `path` is for fusermount3. 0 or an errno.
int cfuse_place_detach(int place, const char *path);

#endif
