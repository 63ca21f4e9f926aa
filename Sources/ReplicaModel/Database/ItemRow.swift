internal import Foundation
internal import GRDB

/// A node as stored in the database.
/// Large: the columns of a table.
struct ItemRow {
    var number: UInt64
    var inodeNumber: UInt64
    var parent: UInt64
    var name: FileName
    var kind: ItemKind
    var fingerprint: FileFingerprint
    var materialization: Materialization
    var pin: Pin
    var flags: NodeFlags
    var dirty: ItemFields
    var usedAt: Double
    var base: Base?
    var failure: Failure?
    var sent: SentPlace?
    var conflict: ConflictOrigin?
    var sentContent: SentContent?
    var ranges: RangeSet64
    var syncedSize: Int64?
    /// Whether the database has a row of this number, as far as known.
    var hasRow = false

    /// The row of the present state of `node`.
    init(_ node: Node) {
        number = node.number.rawValue
        inodeNumber = node.inodeNumber.rawValue
        parent = node.parent?.number.rawValue ?? 0
        name = node.name
        kind = node.kind
        fingerprint = node.fingerprint
        materialization = node.materialization
        pin = node.pin
        flags = node.flags
        dirty = node.dirty
        usedAt = node.usedAt
        base = node.base
        failure = node.failure
        sent = node.sent
        conflict = node.conflict
        sentContent = node.sentContent
        ranges = node.ranges
        syncedSize = node.syncedSize
        hasRow = node.hasRow
        if node.writers > 0 || node.mayBeMapped { flags.insert(.writing) }
    }

    init(_ row: Row) {
        number = UInt64(bitPattern: row["number"])
        inodeNumber = UInt64(bitPattern: row["inodeNumber"])
        parent = UInt64(bitPattern: row["parent"])
        name = FileName(bytes: Self.bytes(row["name"]))
        kind = ItemKind(rawValue: row["kind"]) ?? .file
        fingerprint = FileFingerprint()
        fingerprint.inode = UInt64(bitPattern: row["inode"])
        fingerprint.born = row["born"]
        fingerprint.size = row["size"]
        fingerprint.modified = row["modified"]
        fingerprint.changed = row["changed"]
        fingerprint.mode = row["mode"]
        materialization = Materialization(rawValue: row["materialization"]) ?? .dataless
        pin = Pin(rawValue: row["pin"]) ?? .inherited
        flags = NodeFlags(rawValue: row["flags"])
        dirty = ItemFields(rawValue: row["dirty"])
        usedAt = row["usedAt"]
        base = Self.base(row)
        if let code: String = row["errorCode"] {
            failure = Failure(
                code: code, message: row["errorMessage"], attempts: row["attempts"], retryAt: row["retryAt"])
        }
        if let parent: Int64 = row["placeParent"], let template: String = row["template"] {
            sent = SentPlace(
                parent: ItemNumber(UInt64(bitPattern: parent)), name: FileName(bytes: Self.bytes(row["placeName"])),
                template: ItemIdentifier(template))
        }
        sentContent = Self.sentContent(row)
        ranges = RangeSet64(Self.ranges(row["ranges"]))
        syncedSize = row["syncedSize"]
        if let original: String = row["conflictOf"] {
            conflict = ConflictOrigin(original: ItemIdentifier(original), date: row["conflictAt"])
        }
    }

    /// Bytes of local content; a file with several names counts once.
    var here: Int64 {
        guard kind == .file, inodeNumber == number, flags.isDisjoint(with: [.special, .deleted]) else { return 0 }
        return materialization == .whole ? fingerprint.size : ranges.count
    }

    /// Makes a node from this row; the caller provides its parent.
    /// - Parameter now: The present time. Later times from an earlier run mean that the clock was set back since.
    func makeNode(parent: Node?, now: Double) -> Node {
        let node = Node(number: ItemNumber(number), parent: parent, name: name, kind: kind)
        node.inodeNumber = ItemNumber(inodeNumber)
        node.fingerprint = fingerprint
        node.materialization = materialization
        node.pin = pin
        node.flags = flags
        node.dirty = dirty
        node.usedAt = min(usedAt, now)
        node.base = base
        node.failure = failure
        node.failure?.retryAt = failure?.retryAt.map { Backoff.bounded($0, now: now) }
        node.sent = sent
        node.conflict = conflict
        node.sentContent = sentContent
        node.ranges = ranges
        node.syncedSize = syncedSize
        (node.isRecorded, node.hasRow) = (true, true)
        return node
    }

    private static func bytes(_ blob: Data) -> [UInt8] { [UInt8](blob) }

    private static func base(_ row: Row) -> Base? {
        guard let identifier: String = row["identifier"] else { return nil }
        return Base(
            identifier: ItemIdentifier(identifier), parent: ItemNumber(UInt64(bitPattern: row["baseParent"])),
            name: FileName(bytes: bytes(row["baseName"])),
            version: ItemVersion(content: row["baseContent"], metadata: row["baseMetadata"]), size: row["baseSize"],
            capabilities: Capabilities(rawValue: row["capabilities"]), isUploaded: row["uploaded"])
    }

    private static func sentContent(_ row: Row) -> SentContent? {
        guard let size: Int64 = row["sentSize"], let parent: Int64 = row["sentParent"] else { return nil }
        return SentContent(
            size: size, modified: row["sentModified"], parent: ItemNumber(UInt64(bitPattern: parent)),
            name: FileName(bytes: bytes(row["sentName"])))
    }

    private static func ranges(_ blob: Data?) -> [Range<Int64>] {
        guard let blob else { return [] }
        let numbers = blob.withUnsafeBytes { raw in
            (0..<raw.count / 8).map { raw.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self) }
        }
        return stride(from: 0, to: numbers.count - 1, by: 2).map { numbers[$0]..<max(numbers[$0], numbers[$0 + 1]) }
    }
}
