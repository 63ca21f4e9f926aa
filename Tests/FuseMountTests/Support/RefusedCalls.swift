import CLinux
import Glibc

/// System calls that a container's manager refuses, by a seccomp filter.
struct RefusedCalls: Sendable {
    /// Numbers of system calls, the same on all machines.
    enum Call: UInt32 {
        case moveMount = 429
        case fsopen = 430
        case fsconfig = 431
        case fsmount = 432
        case openat2 = 437
    }

    let calls: [Call]
    let error: Int32

    init(_ calls: [Call], _ error: Int32) {
        self.calls = calls
        self.error = error
    }

    /// Refuses them to this thread and those that it starts, forever. Returns whether that is possible.
    func refuse() -> Bool {
        // struct sock_filter: load the number; jump to the end if it is one of these; allow; refuse.
        var program = [Self.instruction(0x20, 0)]
        for (index, call) in calls.enumerated() {
            program.append(Self.instruction(0x15, call.rawValue, ifEqual: UInt64(calls.count - index)))
        }
        program += [Self.instruction(0x06, 0x7fff_0000), Self.instruction(0x06, 0x5_0000 | UInt32(error))]
        return program.withUnsafeBufferPointer { program in
            // struct sock_fprog.
            let whole = [UInt64(program.count), UInt64(UInt(bitPattern: program.baseAddress))]
            let filterMode: UInt = 2
            return whole.withUnsafeBufferPointer {
                cl_prctl(CL_PR_SET_SECCOMP, filterMode, UInt(bitPattern: $0.baseAddress), 0, 0) == 0
            }
        }
    }

    private static func instruction(_ code: UInt64, _ value: UInt32, ifEqual jump: UInt64 = 0) -> UInt64 {
        code | jump << 16 | UInt64(value) << 32
    }
}
