internal import CLinux
internal import Glibc
internal import SystemPackage

/// What only the kernel knows about a backing file: with its passthrough, a mapping whose descriptor is closed keeps the file open, and no
/// request tells of it. A lease (fcntl(2)) is only granted if no such process exists.
extension HeldFile {
    /// Whether a process has the file open for writing. The file is open for reading here, and nowhere else in this process for writing.
    var isOpenForWriting: Bool {
        do throws(Errno) {
            try takeLease(F_RDLCK)
            _ = fcntl(descriptor, CL_F_SETLEASE, F_UNLCK)
            return false
        } catch {
            // Where leases are not supported, the kernel's passthrough is not, either.
            return [.resourceTemporarilyUnavailable, .noMemory, .noLocks].contains(error)
        }
    }

    /// Makes sure that no other process has the file open. Whoever opens it waits until this descriptor, the only one in this process, is
    /// closed.
    /// - Throws: EAGAIN if a process has it open or mapped.
    func demandUnused() throws(Errno) {
        do throws(Errno) { try takeLease(F_WRLCK) } catch {
            // Where leases are not supported, or for another user's file without CAP_LEASE, nothing can be said: without the kernel's
            // passthrough, every mapping is known.
            guard [.invalidArgument, .notSupported, .permissionDenied].contains(error) else { throw error }
        }
    }

    private func takeLease(_ type: Int32) throws(Errno) {
        // The signal for a process that waits for the lease is SIGIO otherwise, which ends this process.
        _ = fcntl(descriptor, CL_F_SETSIG, SIGURG)
        try Errno.check(fcntl(descriptor, CL_F_SETLEASE, type))
    }
}
