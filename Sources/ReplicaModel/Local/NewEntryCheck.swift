internal import Glibc
internal import SystemPackage

/// Checks that an entry of a folder was created after this moment. It distinguishes the new entry from another one that a user with
/// write access renamed to its name.
struct NewEntryCheck {
    /// Nanoseconds since the epoch, on the clock of file timestamps.
    private let now: Int64
    /// The folder's change time: entries that existed by then are not younger.
    private let folderChanged: Int64

    init(of folder: Int32) throws(Errno) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        now = Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)).nanoseconds
        folderChanged = try FileStatus(descriptor: folder).changed.nanoseconds
    }

    /// Throws if an entry can't have been created since.
    /// - Throws: ESTALE if it is older, or has several names: another user's file that was linked there.
    func demandNew(_ status: FileStatus) throws(Errno) {
        let born = status.born.nanoseconds
        // The filesystem may use another clock, such as a server's.
        let isOld = born != 0 && born < now && born <= folderChanged
        guard !isOld, status.kind == .folder || status.links == 1 else { throw Errno.stale }
    }
}
