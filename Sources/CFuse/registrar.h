// The messages between a daemon and replica-passthrough, over a sequenced-packet socket: of fixed sizes, one at a time.
#pragma once
#include <stdint.h>

enum registrar_call {
    /// With the descriptor of the FUSE device. Answered with 0 or -errno.
    REGISTRAR_SESSION = 1,
    /// With the descriptor of a file. Answered with its ID, which is greater than 0, or -errno.
    REGISTRAR_OPEN = 2,
    /// With an ID. Not answered.
    REGISTRAR_CLOSE = 3,
};

struct registrar_request {
    uint32_t call;
    int32_t id;
};

struct registrar_answer {
    int32_t result;
};
