internal import CLinux
internal import Glibc
internal import SystemPackage

/// Items that the sender has to check.
struct ChangedItems {
    var due: [ItemNumber] = []
    /// Each with its earliest time, in seconds since 1970.
    var later: [(ItemNumber, Double)] = []
}

extension Replica {
    /// The items that became pending or were edited since the last call. Edits that are still debounced are checked
    /// later.
    /// - Parameter settle: How long an edit is debounced, in seconds.
    func takeChanged(settle: Double) -> ChangedItems {
        withTree { tree in
            var news = ChangedItems()
            let now = tree.clock.now()
            for number in tree.pending.takeChanged() {
                guard let node = tree.items[number], node.failure == nil, node.changedAt + settle > now else {
                    news.due.append(number)
                    continue
                }
                news.later.append((number, node.changedAt + settle))
            }
            return news
        }
    }

    /// Begins to move an item to an interim name in the store, if it is in another item's way and part of a cycle of
    /// such items.
    /// - Returns: Nil if no item waits for its place.
    func beginDisplacing(_ number: ItemNumber) throws(ReplicaError) -> OutgoingCall? {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.pending[number], let base = node.base, !node.isInFlight, !node.isUnanswered,
                !tree.isStuck(node), let folder = try tree.find(base.parent), !folder.isDeleted,
                let other = try tree.child(base.name, of: folder), other !== node
            else { return nil }
            let name = tree.interimName(of: node, in: folder)
            node.isInFlight = true
            node.dirtySinceSent = node.dirty
            node.sent = SentPlace(parent: base.parent, name: name, template: base.identifier)
            tree.note(node)
            let template = ItemTemplate(
                identifier: base.identifier, parent: tree.identifier(ofFolder: folder) ?? .root, filename: name,
                kind: node.kind)
            return OutgoingCall(
                number: number, call: .modify(base: base.version), template: template,
                fields: .filename, parent: base.parent, isOfKnownItem: true, isInterim: true)
        }
    }

    /// Begins to send an item if it can be sent now: the item is in flight until ``finish(_:_:)`` or ``fail(_:_:)``.
    func beginCall(_ number: ItemNumber, settle: Double) throws(ReplicaError) -> UploadStep {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.pending[number] else { return .wait(.nothing) }
            tree.settle(node)
            if let step = try tree.withdraw(node) { return step }
            let view = try tree.pendingView(of: node, settle: settle)
            let readiness = readiness(of: view, now: tree.clock.now())
            let call: OutgoingCall.Call
            var fields: ItemFields
            switch readiness {
            case .nothing, .busy, .waits, .later: return .wait(readiness)
            case .resolve: (call, fields) = (.resolve, [])
            case .create(let options): (call, fields) = (.create(options), node.dirty.union(.place))
            case .modify(let changed): (call, fields) = (.modify(base: node.base?.version ?? .beforeFirstSync), changed)
            case .delete: (call, fields) = (.delete(base: node.base?.version ?? .beforeFirstSync), [])
            }
            if case .modify(let changed) = readiness, changed.contains(.contents), node.kind == .file,
                node.materialization != .whole
            {
                return .fetch([number])
            }
            // Content that is not local is never sent.
            if node.kind == .file, node.materialization != .whole { fields.remove(.contents) }
            return try self.beginCall(node, call, fields, in: tree)
        }
    }

    private func beginCall(
        _ node: Node, _ call: OutgoingCall.Call, _ fields: ItemFields, in tree: Tree
    ) throws(ReplicaError) -> UploadStep {
        // A resolve asks about the folder that the item was sent to, even if it was moved here since.
        let sentParent = node.base == nil && node.flags.contains(.createSent) ? node.sent?.parent : nil
        var outgoing = OutgoingCall(
            number: node.number, call: call, template: try template(of: node, in: tree),
            fields: fields,
            parent: sentParent ?? node.parent?.number ?? node.placeInStore?.parent ?? .root)
        outgoing.isOfKnownItem = storeIdentifier(of: node) != nil
        outgoing.isRepeated = node.failure != nil
        // A store without marks can only recognize a deleted symlink by its target.
        if node.isDeleted {
            outgoing.template.metadata.modificationDate = Timestamp(nanoseconds: node.fingerprint.modified)
        }
        if !node.isDeleted, node.parent != nil {
            let place = try tree.place(of: node)
            try errnos { () throws(Errno) in
                if fields.contains(.contents), node.kind == .file {
                    try outgoing.takeContents(of: node, at: place, tree.store.privileges)
                } else {
                    try place.hold { (file) throws(Errno) in
                        _ = try outgoing.takeMetadata(of: node, file, tree.store.privileges)
                    }
                }
                // A new item has no empty fields (statement 85).
                if case .create = call { outgoing.fields.subtract(outgoing.template.metadata.clearedFields) }
                if node.kind == .symlink { outgoing.template.target = try place.target() }
            }
        }
        if let source = outgoing.source {
            tree.watchMapping(of: node, HeldFile(descriptor: source, isReadable: true))
            outgoing.isWritten = tree.isWritten(node)
            if outgoing.isWritten { tree.noteSentWhileWritten(node) }
        }
        if outgoing.isOfReplacement(of: node) {
            if let source = outgoing.source { Glibc.close(source) }
            // A placeholder has no bytes of its own.
            let place = try tree.place(of: node)
            let isMarked = try errnos { () throws(Errno) in try tree.mark.isOn(place) }
            guard node.materialization == .whole, !isMarked else { throw .errno(.stale) }
            tree.noteContent(outgoing.fingerprint, of: node)
            tree.pending.tell(node)  // An edit like any other: debounced, then sent.
            return .wait(.nothing)
        }
        node.isInFlight = true
        node.isResolving = call == .resolve
        (node.dirtySinceSent, node.syncedSinceSent) = ([], nil)
        if outgoing.source != nil || outgoing.keepsContent && node.holdsKnownContent {
            // Also for a change of metadata: the store may give the content another version after it.
            node.sentContent = SentContent(
                size: outgoing.fingerprint.size, modified: outgoing.fingerprint.modified, parent: outgoing.parent,
                name: outgoing.template.filename)
            tree.note(node)
        }
        if case .create = call { node.flags.insert(.createSent) }
        if call != .resolve, !fields.isDisjoint(with: .place) {
            node.sent = SentPlace(parent: outgoing.parent, name: node.name, template: outgoing.template.identifier)
            tree.note(node)
        }
        return .send(outgoing)
    }

    private func template(of node: Node, in tree: Tree) throws(ReplicaError) -> ItemTemplate {
        let sent = node.isNew && node.flags.contains(.createSent) ? node.sent : nil
        let parent = try sent.map { (sent) throws(ReplicaError) in try tree.find(sent.parent) } ?? node.parent
        return ItemTemplate(
            identifier: storeIdentifier(of: node) ?? node.sent?.template ?? freshTemplateIdentifier(in: tree),
            parent: parent.flatMap(tree.identifier(ofFolder:)) ?? .root, filename: sent?.name ?? node.name,
            kind: node.kind)
    }
}

extension OutgoingCall {
    /// Whether another file has taken the place of a node's file since that was last seen: it is sent as a whole.
    fileprivate func isOfReplacement(of node: Node) -> Bool {
        fingerprint.inode != 0 && node.kind == .file && !node.fieldsOfReplacement(fingerprint).isEmpty
    }

    /// Opens the file once, for both content and metadata: the tree's lock is held when a call begins.
    fileprivate mutating func takeContents(
        of node: Node, at place: BackingPath, _ privileges: Privileges
    ) throws(Errno) {
        let file = HeldFile(descriptor: try place.open(O_RDONLY | CL_O_NOATIME), isReadable: true)
        do throws(Errno) {
            try node.demandKind(of: try takeMetadata(of: node, file, privileges))
            source = file.descriptor
        } catch {
            close(file.descriptor)
            throw error
        }
    }

    fileprivate mutating func takeMetadata(
        of node: Node, _ file: HeldFile, _ privileges: Privileges
    ) throws(Errno) -> FileStatus {
        let status = try file.status()
        fingerprint = FileFingerprint(status)
        template.metadata = try file.metadata(fields, node.kind, status, privileges)
        return status
    }
}

extension Node {
    /// Whether it is a file whose content, or placeholder, corresponds to the store's content, as far as known.
    fileprivate var holdsKnownContent: Bool { kind == .file && !isDeleted && !dirty.contains(.contents) }
}

extension Replica {
    /// The store's identifier of an item to change; nil for an item to create.
    fileprivate func storeIdentifier(of node: Node) -> ItemIdentifier? {
        node.isNew && !node.isDeleted ? nil : node.base?.identifier
    }

    fileprivate func freshTemplateIdentifier(in tree: Tree) -> ItemIdentifier {
        ItemIdentifier("\(templatePrefix)-\(tree.items.numbers.take().rawValue)")
    }
}

extension HeldFile {
    /// The file's replicated metadata in `fields`; its status is `status`.
    func metadata(
        _ fields: ItemFields, _ kind: ItemKind, _ status: FileStatus, _ privileges: Privileges
    ) throws(Errno) -> ItemMetadata {
        var metadata = ItemMetadata()
        if fields.contains(.mode), kind != .symlink {
            metadata.mode = privileges.replicated(try replicatedMode(status))
        }
        if fields.contains(.modificationDate) { metadata.modificationDate = status.modified }
        guard kind != .symlink else { return metadata }
        let names = try xattrNames()
        if fields.contains(.tags) { metadata.tags = try text(OwnXattr.tags, names) ?? "" }
        if fields.contains(.lastUsedDate) {
            let text = try text(OwnXattr.lastUsed, names)
            metadata.lastUsedDate = Timestamp(nanoseconds: text.flatMap { Int64($0) } ?? 0)
        }
        if fields.contains(.favoriteRank) {
            metadata.favoriteRank = try text(OwnXattr.favorite, names).flatMap { UInt64($0) } ?? 0
        }
        guard fields.contains(.extendedAttributes) else { return metadata }
        var values: [String: [UInt8]] = [:]
        for name in names where OwnXattr.field(of: name) == .extendedAttributes { values[name] = try xattr(name) }
        metadata.extendedAttributes = values
        return metadata
    }

    private func text(_ name: String, _ names: [String]) throws(Errno) -> String? {
        names.contains(name) ? String(decoding: try xattr(name), as: UTF8.self) : nil
    }
}
