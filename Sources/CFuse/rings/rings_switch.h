// The administrator's switch for FUSE over io_uring, which can be changed at any time.
#ifndef CFUSE_RINGS_SWITCH_H
#define CFUSE_RINGS_SWITCH_H
#include <stdbool.h>

/// Whether the kernel's switch is on; true if it can't be read.
bool rings_are_allowed(void);
/// Makes a connection whose INIT is answered use the device from now on, whatever the kernel concluded from the answer.
void rings_renounce(int device);

#endif
