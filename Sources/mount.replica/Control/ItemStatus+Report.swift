import ReplicaControl
import ReplicaModel
import SystemPackage

extension ControlPath {
    /// The path of these names below the root.
    init(_ names: [FileName]) {
        self.init(bytes: names.map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
    }

    /// The names from the root down.
    /// - Throws: ENOENT if one is not a valid name, such as `..`.
    func fileNames() throws(Errno) -> [FileName] {
        let all = names.map(FileName.init(bytes:))
        guard all.allSatisfy(\.isValid) else { throw Errno.noSuchFileOrDirectory }
        return all
    }
}

extension Range<Int64> {
    init(_ range: ByteRange) throws(ControlFailure) {
        let (end, isOver) = range.offset.addingReportingOverflow(range.length)
        guard !isOver else { throw ControlFailure(.usage, "the range is too large") }
        self = range.offset..<end
    }
}

extension ItemStatus {
    init(_ report: ItemReport) {
        let kind: ItemStatusKind =
            switch report.kind {
            case .file: .file
            case .folder: .folder
            case .symlink: .symlink
            case nil: .special
            }
        self.init(
            path: ControlPath(report.path), id: report.identifier?.rawValue, number: report.number.rawValue, kind: kind,
            state: MaterializationState(report.materialization), size: report.size)
        pinned = report.isPinned
        pending = report.isDeleted ? ["deletion"] : report.pending.names
        version = report.version.map { ItemStatusVersion(content: $0.content, metadata: $0.metadata) }
        error = report.error.map { error in
            ItemStatusError(
                code: error.code, message: error.message, attempts: error.attempts, nextTry: error.retryAt?.date)
        }
    }
}

extension MaterializationState {
    init(_ materialization: Materialization) {
        self =
            switch materialization {
            case .whole: .materialized
            case .partial: .partial
            case .dataless: .dataless
            }
    }
}

extension ItemFields {
    /// In the order of their bits.
    private static let named: [(ItemFields, String)] = [
        (.contents, "contents"), (.filename, "filename"), (.parent, "parent"), (.lastUsedDate, "lastUsedDate"),
        (.tags, "tags"), (.favoriteRank, "favoriteRank"), (.modificationDate, "modificationDate"), (.mode, "mode"),
        (.extendedAttributes, "extendedAttributes"),
    ]

    /// The fields' names.
    var names: [String] { Self.named.filter { contains($0.0) }.map(\.1) }

    /// The field of this name.
    init(name: String) throws(ControlFailure) {
        guard let field = Self.named.first(where: { $0.1 == name })?.0 else {
            let names = ItemFields.all.names.joined(separator: ", ")
            throw ControlFailure(.usage, "'\(name)' is not a field of an item; the fields are: \(names)")
        }
        self = field
    }
}

extension ConflictStatus {
    init(_ conflict: Conflict) {
        self.init(
            path: ControlPath(conflict.original ?? conflict.copy), copy: ControlPath(conflict.copy),
            date: conflict.date.date,
            detail: conflict.original == nil
                ? "changed here and in the store; the store's version is gone" : "changed here and in the store")
    }
}

extension ConflictSide {
    init(_ choice: ConflictChoice) {
        self =
            switch choice {
            case .local: .local
            case .remote: .remote
            case .both: .both
            }
    }
}

extension EvictionResult {
    init(_ eviction: Eviction) {
        self.init(
            items: eviction.items, bytes: eviction.bytes,
            refused: eviction.refused.map { ReplicaControl.EvictionRefusal($0) })
    }
}

extension ReplicaControl.EvictionRefusal {
    init(_ refusal: Eviction.Refusal) {
        let (code, message) = refusal.reason.words
        self.init(path: ControlPath(refusal.path), code: code, message: message)
    }
}

extension ReplicaModel.EvictionRefusal {
    /// The name and the line for the user.
    var words: (code: String, message: String) {
        switch self {
        case .unsyncedEdits: ("unsyncedEdits", "not in the store yet")
        case .deletedInStore: ("nonEvictable", "the store deleted it")
        case .storeUnavailable: ("nonEvictable", "the store can't be reached now")
        case .pinned: ("nonEvictable", "pinned")
        case .open: ("busy", "open in a program")
        case .hardLinked: ("hardLinked", "it has several hard links")
        case .notEvictable: ("nonEvictable", "not replicated")
        case .setID: ("nonEvictable", "has set-user-ID or set-group-ID bits, which the store doesn't keep")
        case .capabilities: ("nonEvictable", "has file capabilities, which the store doesn't keep")
        case .failed(let errno): ("failed", ErrnoText.reason(errno).words)
        }
    }
}
