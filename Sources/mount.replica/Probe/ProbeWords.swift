import PathStore
import ReplicaControl

/// A store's declared properties as text.
enum ProbeWords {
    /// Properties that are not tested, because that would take an accident or an hour.
    static func declared(_ store: ProbedStore) -> [ProbeFinding] {
        let properties = store.storage.properties
        let removing =
            properties.removeStrength == .atomic
            ? ProbeFinding("removing", .kept, "only what was seen is removed, as the store says")
            : ProbeFinding(
                "removing", .weak,
                "looked at right before: what somebody else writes in that moment goes with it")
        let changes: ProbeFinding =
            if store.tellsChanges {
                ProbeFinding("changes", .kept, "those of others are told at once")
            } else if properties.foldersTellChanges {
                ProbeFinding(
                    "changes", .weak,
                    "those of others are looked for every half minute, only where something is another")
            } else {
                ProbeFinding(
                    "changes", .weak,
                    "those of others are looked for: in folders that are in use every half minute, in all others every hour"
                )
            }
        let space =
            store.tellsSpace
            ? ProbeFinding("space", .kept, "what is free is that of the directory's disk")
            : ProbeFinding(
                "space", .local, "the store does not tell what is free: df shows this machine's")
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
            ? "; two changes of one size within \(duration(properties.changeGrain)) there may be taken for one"
            : ""
        return
            "note: this store tests no condition in one step with the \(list) of a file: what somebody else writes there in"
            + " that moment is lost\(grain) (replica probe shows more)"
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
        case .notFound: "it is gone"
        case .taken: "something is there"
        case .changed: "another is there"
        case .notEmpty: "something is in it"
        case .notAuthenticated(let text), .insufficientQuota(let text), .readOnly(let text),
            .unavailable(let text),
            .refused(let text), .unsupported(let text), .unreachable(let text):
            text
        case .busy: "the server is busy"
        case .cancelled: "it was cancelled"
        }
    }
}
