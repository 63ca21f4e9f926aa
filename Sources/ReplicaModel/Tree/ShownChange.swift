/// A change time (st_ctime) that is shown instead of a file's own, in nanoseconds: downloading and evicting content changes the
/// backing file, but not what programs read. tar(1) reports a file whose change time differs after it was read as changed, and
/// backups read such a file again.
struct ShownChange: Hashable {
    /// The file's own, as the download or the eviction left it. With any other, the file was changed since.
    var own: Int64
    var shown: Int64
}

extension Node {
    /// The change time that programs see.
    /// - Parameter own: The file's own.
    func shownChangeTime(_ own: Int64) -> Int64 {
        guard kind == .file else { return own }
        // A download changes the file with each piece; changes that count are noted in the fingerprint.
        let noted = materialization == .whole ? own : fingerprint.changed
        return shownChange.flatMap { $0.own == noted ? $0.shown : nil } ?? noted
    }

    /// Keeps the change time that programs saw, after a download or an eviction whose result is in the fingerprint.
    func keepChangeTime(_ seen: Int64) {
        shownChange = fingerprint.changed == seen ? nil : ShownChange(own: fingerprint.changed, shown: seen)
    }
}
