internal import GRDB
internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Records that an item has to be offered to the store again, so that the reimport survives a crash.
    func beginReimport(_ number: ItemNumber) throws {
        state.withLock { state in
            state.reimports += 1
            state.isImporting = true
        }
        do {
            try replica.database.write { rows in
                let begun = try Meta.reimports.read(from: rows) ?? ""
                try Meta.reimports.write("\(begun) \(number.rawValue)", to: rows)
                try Meta.importing.write("yes", to: rows)
            }
        } catch {
            state.withLock { $0.reimports -= 1 }
            throw error
        }
    }

    /// Marks an item and all known items below it, folder by folder, top-down. Blocks its thread.
    func markForReimport(_ number: ItemNumber) {
        defer {
            state.withLock { $0.reimports -= 1 }
            wakeSignal.signal()
        }
        while replica.isScanning {
            guard !isStopping.withLock({ $0 }) else { return }
            usleep(20_000)
        }
        var open = [number]
        while let next = open.popLast() {
            guard !isStopping.withLock({ $0 }) else { return }
            do throws(ReplicaError) {
                open.append(contentsOf: try replica.reimport(next, isFirst: next == number))
            } catch {
                log.warning("a folder cannot be reimported", metadata: ["item": "\(next)", "errno": "\(error.errno)"])
            }
        }
        do {
            try replica.record { rows in
                let begun = try Meta.reimports.read(from: rows) ?? ""
                let left = begun.split(separator: " ").filter { $0 != "\(number.rawValue)" }
                try Meta.reimports.write(left.isEmpty ? nil : left.joined(separator: " "), to: rows)
            }
        } catch {
            log.error("the database cannot be written", metadata: ["error": "\(error)"])
        }
    }
}

extension Replica {
    /// The reimports that have begun and are not complete.
    func begunReimports() -> [ItemNumber] {
        // If the database can't be read, there are none.
        let text = try? database.read { try Meta.reimports.read(from: $0) }
        return (text.flatMap { $0 } ?? "").split(separator: " ").compactMap { UInt64($0) }.map(ItemNumber.init)
    }

    /// Marks the entries of an item, and the item itself if it is the first.
    /// - Returns: The folders among the entries.
    fileprivate func reimport(_ number: ItemNumber, isFirst: Bool) throws(ReplicaError) -> [ItemNumber] {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = try tree.find(number), !node.isDeleted else { return [] }
            if isFirst { tree.markReimported(node) }
            guard node.kind == .folder, node.materialization == .whole else { return [] }
            let children = try tree.children(of: node).values
            for child in children { tree.markReimported(child) }
            return children.filter { $0.kind == .folder }.map(\.number)
        }
    }
}

extension Tree {
    /// Sends an item as a new one that the store may already have; without content that is not local (statement 81).
    fileprivate func markReimported(_ node: Node) {
        guard node !== root, !node.isDeleted, !node.flags.contains(.special) else { return }
        node.flags.formUnion([.mayAlreadyExist, .importing])
        node.flags.remove(.createSent)
        node.sent = nil
        if node.base != nil { node.flags.insert(.reimport) }
        var fields = ItemFields.ofNew(node.kind)
        if node.kind == .file, node.materialization != .whole { fields.remove(.contents) }
        edit(node, fields)
        node.changedAt = 0
    }
}
