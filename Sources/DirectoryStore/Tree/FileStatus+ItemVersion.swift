import ReplicaModel

extension FileStatus {
    /// Size, modification time and inode: a rewrite changes at least one of them, unless it resets the time. Empty for
    /// folders and symlinks, whose content is their children or their target.
    ///
    /// Since Linux 6.13, the first write after the time was read gets a new time, so that even a rewrite of the same
    /// size within a clock tick is visible; older kernels have a resolution of a few milliseconds.
    var contentVersion: String {
        guard kind == .file else { return "" }
        // Where items are identified by places, inode numbers change with each mount.
        let file = placeKey == nil ? inode : 0
        return "\(hex(UInt64(bitPattern: size))).\(hex(UInt64(bitPattern: modified.nanoseconds))).\(hex(file))"
    }

    /// The change time and the place. A folder's change time also changes with its children, so its metadata is hashed
    /// instead; its modification time is left out for the same reason.
    func metadataVersion(at place: EntryPlace, _ metadata: ItemMetadata) -> String {
        var state = UInt64(bitPattern: changed)
        if placeKey != nil, kind == .file {
            // The clocks of these filesystems are too coarse to show a second change.
            var hash = StableHash()
            hash.add(state)
            hash.add(UInt64(mode))
            hash.add(UInt64(bitPattern: modified.nanoseconds))
            state = hash.value
        } else if kind == .folder {
            var hash = StableHash()
            hash.add(UInt64(metadata.mode ?? mode))
            hash.add((metadata.tags ?? "").utf8)
            hash.add(metadata.favoriteRank ?? 0)
            hash.add(UInt64(bitPattern: metadata.lastUsedDate?.nanoseconds ?? 0))
            for (name, value) in (metadata.extendedAttributes ?? [:]).sorted(by: { $0.key < $1.key }) {
                hash.add(name.utf8)
                hash.add(value)
            }
            state = hash.value
        }
        return "\(hex(state)).\(hex(place.hash64))"
    }

    /// The change time in a file's version; nil if the version is not from this store.
    static func changeTime(of version: ItemVersion) -> Int64? {
        version.metadata.split(separator: ".").first.flatMap { UInt64($0, radix: 16) }.map { Int64(bitPattern: $0) }
    }

    /// A hash of everything that changes with an entry, valid in this process only. Shows whether the entry changed
    /// since the last check.
    var statusHash: Int {
        var hasher = Hasher()
        hasher.combine(size)
        hasher.combine(modified)
        hasher.combine(changed)
        return hasher.finalize()
    }
}
