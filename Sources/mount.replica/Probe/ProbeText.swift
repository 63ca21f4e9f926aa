import PathStore
import ReplicaControl

/// A store's declared properties as text.
enum ProbeText {
    /// Properties that are not tested, because that would take an accident or an hour.
    static func declared(_ store: ProbedStore) -> [ProbeFinding] {
        let properties = store.storage.properties
        let removing =
            properties.removeStrength == .atomic
            ? ProbeFinding("removing", .kept, "the store checks the version and removes in one step, as it declares")
            : ProbeFinding(
                "removing", .weak,
                "checked right before: what another client writes in between is removed too")
        let changes: ProbeFinding =
            if store.tellsChanges {
                ProbeFinding("changes", .kept, "other clients' changes are reported immediately")
            } else if properties.foldersTellChanges {
                ProbeFinding(
                    "changes", .weak,
                    "other clients' changes are found by polling every 30 s, in changed folders only")
            } else {
                ProbeFinding(
                    "changes", .weak,
                    "other clients' changes are found by polling: folders in use every 30 s, all others every hour"
                )
            }
        let space =
            store.tellsSpace
            ? ProbeFinding("space", .kept, "the free space is that of the directory's disk")
            : ProbeFinding(
                "space", .local, "the store does not report its free space: df shows this machine's")
        return [removing, changes, space]
    }

    /// The warning before an import into a store with these properties, or the creation of a domain.
    /// - Returns: Nil if nothing can be lost.
    static func weakness(_ properties: PathStorageProperties) -> String? {
        let acts = [
            ("creation", properties.createStrength), ("replacement", properties.replaceStrength),
            ("renaming", properties.moveStrength), ("removal", properties.removeStrength),
        ]
        let weak = acts.filter { $0.1 != .atomic }.map(\.0)
        // Nearly every store checks the item right before a removal.
        guard weak.contains(where: { $0 != "removal" }) else { return nil }
        let list =
            weak.count == 1
            ? weak[0] : weak.dropLast().joined(separator: ", ") + " or " + (weak.last ?? "")
        let grain =
            properties.changeGrain > 0
            ? "; two changes of the same size within \(duration(properties.changeGrain)) may count as one"
            : ""
        return
            "note: this store has no atomic preconditions for the \(list) of a file: what another client writes"
            + " in between is lost\(grain) ('replica probe' shows details)"
    }

    /// - Parameter nanoseconds: More than 0.
    static func duration(_ nanoseconds: Int64) -> String {
        switch nanoseconds {
        case ..<1_000_000: "a millisecond"
        case ..<1_000_000_000: "\(nanoseconds / 1_000_000) ms"
        default: "\((nanoseconds + 999_999_999) / 1_000_000_000) s"
        }
    }

    static func words(_ error: PathStorageError) -> String {
        switch error {
        case .notFound: "not found"
        case .taken: "the name is taken"
        case .changed: "the version differs"
        case .notEmpty: "the folder is not empty"
        case .notAuthenticated(let text), .insufficientQuota(let text), .readOnly(let text),
            .unavailable(let text),
            .refused(let text), .unsupported(let text), .unreachable(let text):
            text
        case .busy: "the server is busy"
        case .cancelled: "it was cancelled"
        }
    }
}
