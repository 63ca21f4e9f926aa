// Limits where a process writes, by landlock(7).
#ifndef CLANDLOCK_H
#define CLANDLOCK_H

/// From now on, this process and its children can only write to, create, move and remove files in these folders, and write to
/// /dev/null. Files that are open stay so; what is read is not limited, nor are modes, owners and times, which landlock does not
/// know. Needs no_new_privs. -errno; 0 also for a kernel without landlock.
int clandlock_limit_writes(const char *const *folders, int count);

#endif
