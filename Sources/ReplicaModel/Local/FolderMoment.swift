internal import Glibc
internal import SystemPackage

/// When something is about to be made in a folder: by it the new entry is told from one that somebody, who may rename there,
/// gave its name meanwhile.
struct FolderMoment {
    /// Nanoseconds since the epoch, by the clock that files are stamped with.
    private let now: Int64
    /// The folder's change time: what was in it by then is not younger.
    private let folderChanged: Int64

    init(of folder: Int32) throws(Errno) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        now = Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)).nanoseconds
        folderChanged = try FileStatus(descriptor: folder).changed.nanoseconds
    }

    /// Makes sure that an entry can be the one that was made since.
    /// - Throws: ESTALE where it is older, or has other names besides: another's file that was linked there.
    func demandNew(_ status: FileStatus) throws(Errno) {
        let born = status.born.nanoseconds
        // The disk's own clock, of a server say, may be another.
        let isOld = born != 0 && born < now && born <= folderChanged
        guard !isOld, status.kind == .folder || status.links == 1 else { throw Errno(rawValue: Glibc.ESTALE) }
    }
}
