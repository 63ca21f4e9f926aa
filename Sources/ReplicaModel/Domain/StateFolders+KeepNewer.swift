internal import CLinux
internal import Glibc
internal import SystemPackage

/// The files in `kept/` that are newer than what the store went back to. Unlike the others there, they are limited
/// (``NewerContentsPlan``).
extension StateFolders {
    /// The names of such files begin with this, the item's number and a space.
    private static let newerPrefix = "newer-"

    /// The name of such a file in ``staging`` and, if it is free, in ``kept``.
    static func newerName(_ number: ItemNumber, _ name: FileName) -> FileName {
        FileName(bytes: Array("\(newerPrefix)\(number.rawValue) ".utf8) + name.bytes.prefix(220))
    }

    /// The item's number in the name of such a file; nil for another file.
    fileprivate static func numberOfNewer(_ name: FileName) -> ItemNumber? {
        let prefix = newerPrefix.utf8
        guard name.bytes.starts(with: prefix) else { return nil }
        let digits = name.bytes.dropFirst(prefix.count).prefix { (0x30...0x39).contains($0) }
        return UInt64(String(decoding: digits, as: UTF8.self)).map { ItemNumber($0) }
    }

    /// Empties ``staging``, but moves what a crash left there under a name of newer bytes to ``kept``: if it came before the exchange with the
    /// item's file, these are the store's. If that fails, they stay where they are.
    func emptyStaging() throws(Errno) {
        let folder = try Errno.check(
            staging.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
        defer { close(folder) }
        for line in try BackingFolderListing(of: folder, mark: nil).lines where line.status.kind != .folder {
            if let number = Self.numberOfNewer(line.name), line.status.kind == .file, line.status.size > 0 {
                let place = BackingPath(folder: folder, name: line.name)
                let name = FileName(bytes: Array(line.name.bytes.drop { $0 != 0x20 }.dropFirst()))
                makeKept()
                // The disk may be full, and the domain has to open nevertheless.
                try? keep(number.rawValue, name, prefix: Self.newerPrefix) { (kept) throws(Errno) in
                    try place.move(to: kept)
                }
            } else {
                _ = line.name.withCString { unlinkat(folder, $0, 0) }
            }
        }
    }

    /// Moves a file to ``kept`` if there is room for it.
    /// - Parameter status: The file's.
    /// - Returns: Whether it was moved.
    func keepNewer(
        _ place: BackingPath, _ status: FileStatus, of number: ItemNumber, _ name: FileName, now: Timestamp
    ) throws(Errno) -> Bool {
        makeKept()
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

    /// The user may have removed the folder with what was in it.
    private func makeKept() { _ = kept.withPlatformString { mkdir($0, 0o700) } }

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
        while try nextEntry(of: stream) != nil { count += 1 }
        // Without the names of the folder itself and the one above it.
        return max(0, count - 2)
    }
}

extension NewerContent {
    /// Nil for another file in `kept/`.
    fileprivate init?(_ line: BackingFolderListing.Line) {
        guard line.status.kind == .file, let number = StateFolders.numberOfNewer(line.name) else { return nil }
        self.init(
            number: number, size: line.status.bytesOnDisk, modified: line.status.modified,
            keptAt: line.status.changed)
    }
}

extension FileStatus {
    fileprivate var bytesOnDisk: Int64 { blocks &* 512 }
}
