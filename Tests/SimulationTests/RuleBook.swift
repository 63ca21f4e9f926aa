import ReplicaModel
import ReplicaTestSupport
import Threads

/// Checks every call that reaches the store against the rules, and records bytes and deletions.
final class RuleBook: Sendable {
    private struct Account {
        var violations: [String] = []
        /// Bytes that were written and not knowingly overwritten or removed, and their place.
        var owed: [[UInt8]: String] = [:]
        /// Those of ``owed`` that a program left of a longer file.
        var remains: Set<[UInt8]> = []
        /// Items, and templates of items, that the user removed.
        var removed: Set<ItemIdentifier> = []
        /// The items that templates became.
        var made: [ItemIdentifier: ItemIdentifier] = [:]
        /// Whether the store ever said that it will not have something that is to stay here.
        var hasExcluded = false
    }
    private let account = Locked(Account())
    /// Whether the database may be older than the store: what is known can be forgotten then.
    let mayForget: Bool

    init(mayForget: Bool) {
        self.mayForget = mayForget
    }

    var violations: [String] { account.withLock { $0.violations } }
    /// The contents that have to exist somewhere in the end.
    var owed: [[UInt8]: String] { account.withLock { $0.owed } }
    /// Whether these bytes are what a program left of a longer file.
    func areRemains(_ bytes: [UInt8]) -> Bool { account.withLock { $0.remains.contains(bytes) } }

    func violate(_ what: String) { account.withLock { $0.violations.append(what) } }

    // MARK: Bytes

    func owe(_ bytes: [UInt8], _ place: String, isCut: Bool = false) {
        guard !bytes.isEmpty else { return }
        account.withLock { account in
            account.owed[bytes] = place
            if isCut { account.remains.insert(bytes) } else { account.remains.remove(bytes) }
        }
    }

    func settle(_ loss: Loss) {
        account.withLock { account in
            for bytes in loss.contents { account.owed[bytes] = nil }
            account.removed.formUnion(loss.identifiers)
        }
    }

    // MARK: Calls

    /// The store answered excludedFromSync: the item, and what is in it or moves into it, is deleted there and stays here.
    func noteExclusion() { account.withLock { $0.hasExcluded = true } }

    /// Looks at a call before it is executed.
    /// - Parameter isHere: Whether a file of this content is in the tree.
    func check(_ call: StoreCall, _ store: any Remote, isHere: ([UInt8]) -> Bool) {
        switch call.method {
        case .createItem: checkCreate(call, store)
        case .modifyItem: checkModify(call, store)
        case .deleteItem: checkDelete(call, store, isHere)
        default: break
        }
    }

    /// Notes what a call made.
    func note(_ call: StoreCall, _ result: some Any, _ store: any Remote) {
        let made = call.method == .createItem ? (result as? StoreResult)?.item : result as? Item
        guard [.createItem, .itemCreated].contains(call.method), let item = made, let template = call.identifier else {
            return
        }
        account.withLock { $0.made[template] = item.identifier }
    }

    private func checkCreate(_ call: StoreCall, _ store: any Remote) {
        guard let template = call.template else { return }
        checkPlace(call, template.parent)
        if call.fields.contains(.contents) != call.hasContents, template.kind == .file {
            violate("contents and fields do not agree: \(Describe.call(call))")
        }
        let earlier = account.withLock { $0.made[template.identifier] }
        if let earlier, store.holds(earlier), !mayForget {
            violate("created again, and the store still has \(earlier): \(Describe.call(call))")
        }
    }

    private func checkModify(_ call: StoreCall, _ store: any Remote) {
        guard let template = call.template else { return }
        if call.fields.contains(.parent) { checkPlace(call, template.parent) }
        if call.fields.isEmpty { violate("nothing is changed: \(Describe.call(call))") }
        if call.fields.contains(.contents) != call.hasContents {
            violate("contents and fields do not agree: \(Describe.call(call))")
        }
    }

    private func checkDelete(_ call: StoreCall, _ store: any Remote, _ isHere: ([UInt8]) -> Bool) {
        guard let identifier = call.identifier, store.holds(identifier) else { return }
        if isWithdrawn(identifier, call, store, isHere) { return }
        let isMeant = account.withLock { account in
            account.removed.contains(identifier)
                || account.made.contains { $0.value == identifier && account.removed.contains($0.key) }
        }
        if !isMeant { violate("nobody removed it: \(Describe.call(call))") }
    }

    /// Whether the store itself would not have it: then its bytes are here, or the user wrote others. Another client's
    /// newer content is refused by the store.
    private func isWithdrawn(
        _ identifier: ItemIdentifier, _ call: StoreCall, _ store: any Remote, _ isHere: ([UInt8]) -> Bool
    ) -> Bool {
        let content = store.content(of: identifier) ?? []
        let (hasExcluded, isOwed) = account.withLock { ($0.hasExcluded, $0.owed[content] != nil) }
        guard hasExcluded else { return false }
        let isStale = store.present(identifier)?.version.content != call.base?.content
        return isStale || !isOwed || isHere(content)
    }

    /// Parents come first: a folder is named as the store named it.
    private func checkPlace(_ call: StoreCall, _ parent: ItemIdentifier) {
        guard parent == .root || parent.rawValue.hasPrefix("i") else {
            return violate("the store does not know the folder \(parent): \(Describe.call(call))")
        }
    }
}

/// What a step knowingly overwrites or removes.
struct Loss {
    var contents: [[UInt8]] = []
    var identifiers: [ItemIdentifier] = []

    static func + (left: Loss, right: Loss) -> Loss {
        Loss(contents: left.contents + right.contents, identifiers: left.identifiers + right.identifiers)
    }
}

/// Things as a person reads them in a history.
enum Describe {
    static func call(_ call: StoreCall) -> String {
        var text = call.method.rawValue
        if let identifier = call.identifier { text += " \(short(identifier))" }
        if let template = call.template { text += " \(template.filename) in \(template.parent.rawValue)" }
        if call.method == .modifyItem || call.method == .createItem { text += " [\(fields(call.fields))]" }
        if let base = call.base { text += " on \(base.content)/\(base.metadata)" }
        if call.options != 0 { text += " options \(call.options)" }
        if let range = call.range { text += " \(range)" }
        return text
    }

    /// The random beginning of template identifiers says nothing.
    private static func short(_ identifier: ItemIdentifier) -> String {
        identifier.rawValue.split(separator: "-").last.map { identifier.rawValue.contains("-") ? "t\($0)" : "\($0)" }
            ?? identifier.rawValue
    }

    static func fields(_ fields: ItemFields) -> String {
        let names: [(ItemFields, String)] = [
            (.contents, "contents"), (.filename, "name"), (.parent, "parent"), (.mode, "mode"),
            (.modificationDate, "time"), (.tags, "tags"), (.extendedAttributes, "xattrs"),
            (.lastUsedDate, "used"), (.favoriteRank, "rank"),
        ]
        return names.filter { fields.contains($0.0) }.map(\.1).joined(separator: " ")
    }

    static func content(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(14), as: UTF8.self)
        return "\"\(text)\"" + (bytes.count > 14 ? " (\(bytes.count) bytes)" : "")
    }
}
