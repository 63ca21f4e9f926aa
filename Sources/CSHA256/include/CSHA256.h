// The compression function of SHA-256 (FIPS 180-4), by the processor's own instructions where it has them.
#ifndef CSHA256_H
#define CSHA256_H

#include <stddef.h>
#include <stdint.h>

/// Adds whole blocks of 64 bytes to the state.
void csha256_add(uint32_t state[8], const void *data, size_t blocks);
/// The same without such instructions, for tests.
void csha256_add_portably(uint32_t state[8], const void *data, size_t blocks);

#endif
