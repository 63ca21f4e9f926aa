import ReplicaControl

extension DiskFacts {
    /// The free space, for the user.
    var freeWords: String {
        total > 0 ? "\(Format.bytes(free)) are free" : "the filesystem does not tell its free space"
    }

    /// Nothing more can be written.
    var isFull: Bool { total > 0 && free < 1 << 20 }
    /// A few more files fill it.
    var isNearlyFull: Bool { free < 1 << 30 && free < total / 20 }
    /// No more files can be created, although there may be space.
    var isOutOfFiles: Bool { freeFiles.map { $0 < 16 } ?? false }
    /// Only a few more files can be created.
    var isNearlyOutOfFiles: Bool { freeFiles.map { $0 < 1000 } ?? false }
}

extension DomainFacts {
    /// The finding about free space; nil if there is enough.
    /// - Parameter command: Frees space, not inodes: placeholders have one each.
    func spaceFinding(_ check: Finding.Check, _ place: DiskFacts, mend command: String?) -> Finding? {
        if place.isFull { return .error(check, "the disk of \(place.path) is full", mend: command) }
        if place.isOutOfFiles {
            return .error(check, "the disk of \(place.path) has no inodes left: no file can be created there")
        }
        if place.isNearlyFull {
            return .warning(
                check, "the disk of \(place.path) has only \(Format.bytes(place.free)) left", mend: command)
        }
        if place.isNearlyOutOfFiles, let freeFiles = place.freeFiles {
            return .warning(check, "the disk of \(place.path) has only \(freeFiles) inodes left")
        }
        return nil
    }
}
