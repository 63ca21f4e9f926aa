internal import CLinux
internal import Glibc
internal import SystemPackage

/// The files in `kept/` that are newer than what the store went back to. Unlike the others there, they are limited
/// (``NewerContentsPlan``).
extension StateFolders {
    /// The names of such files begin with this, the item's number and a space.
    static let newerPrefix = "newer-"

    /// Moves a file to ``kept`` if there is room for it.
    /// - Parameter status: The file's.
    /// - Returns: Whether it was moved.
    func keepNewer(
        _ place: BackingPath, _ status: FileStatus, of number: ItemNumber, _ name: FileName, now: Timestamp
    ) throws(Errno) -> Bool {
        // The user may have removed the folder with what was in it.
        _ = kept.withPlatformString { mkdir($0, 0o700) }
        let folder = try openKept()
        defer { close(folder) }
        let content = NewerContent(
            number: number, size: status.bytesOnDisk, modified: status.modified, keptAt: now)
        var names: [NewerContent: FileName] = [:]
        for line in try BackingFolderListing(of: folder, mark: nil).lines {
            if let content = NewerContent(line) { names[content] = line.name }
        }
        let plan = NewerContentsPlan(content, among: Array(names.keys), free: try freeBytes())
        guard plan.keeps else { return false }
        // Before what it replaces is removed.
        try keep(number.rawValue, name, prefix: Self.newerPrefix) { (kept) throws(Errno) in try place.move(to: kept) }
        for name in plan.removed.compactMap({ names[$0] }) { _ = name.withCString { unlinkat(folder, $0, 0) } }
        return true
    }

    /// How many files there are in ``kept``.
    func countKept() throws(Errno) -> Int {
        let folder = kept.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard folder >= 0 else {
            guard Errno.last == .noSuchFileOrDirectory else { throw .last }
            return 0
        }
        guard let stream = fdopendir(folder) else {
            close(folder)
            throw .last
        }
        defer { closedir(stream) }
        var count = 0
        while readdir(stream) != nil { count += 1 }
        // Without the names of the folder itself and the one above it.
        return max(0, count - 2)
    }
}

extension NewerContent {
    /// Nil for another file in `kept/`.
    fileprivate init?(_ line: BackingFolderListing.Line) {
        let prefix = StateFolders.newerPrefix.utf8
        guard line.status.kind == .file, line.name.bytes.starts(with: prefix) else { return nil }
        let digits = line.name.bytes.dropFirst(prefix.count).prefix { (0x30...0x39).contains($0) }
        guard let number = UInt64(String(decoding: digits, as: UTF8.self)) else { return nil }
        self.init(
            number: ItemNumber(number), size: line.status.bytesOnDisk, modified: line.status.modified,
            keptAt: line.status.changed)
    }
}

extension FileStatus {
    fileprivate var bytesOnDisk: Int64 { blocks &* 512 }
}
