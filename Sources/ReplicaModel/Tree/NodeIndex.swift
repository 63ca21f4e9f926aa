internal import Glibc

/// The nodes in memory, by all their keys, and the numbers for new ones.
struct NodeIndex {
    /// How many folders are kept open, with a descriptor each.
    private static let mostOpenFolders = 1024

    var numbers: ItemNumberAllocator
    /// All nodes, including tombstones.
    private(set) var byNumber: NodeTable<ItemNumber> = [:]
    /// A node for each inode number that the kernel may use.
    private var byInode: [ItemNumber: Node] = [:]
    /// The nodes of hard-linked files that share an inode number, except the one whose number it is.
    private var linked: [ItemNumber: LinkedNames] = [:]
    private var byIdentifier: NodeTable<ItemIdentifier> = [:]
    /// Items whose backing file is open for writing, or was when the daemon died.
    var writing: [ItemNumber: Node] = [:]
    /// Folders with ``NodeFlags/needsListing``.
    var needsListing: Set<ItemNumber> = []
    /// Whether all items of the database are loaded.
    var holdsAll = false
    /// Whether nodes were added, changed or released by the kernel since unused ones were last unloaded.
    var mayHaveIdle = true
    /// The folders below the root that were opened, in that order.
    private var openFolders: [Node] = []

    init(numbers: ItemNumberAllocator) { self.numbers = numbers }

    var count: Int { byNumber.count }
    var values: NodeTable<ItemNumber>.Values { byNumber.values }
    subscript(number: ItemNumber) -> Node? { byNumber[number] }
    /// The node that the kernel calls `number`: of a hard-linked file, the one with the kernel's references.
    subscript(inode number: ItemNumber) -> Node? { byInode[number] }
    subscript(identifier: ItemIdentifier) -> Node? { byIdentifier[identifier] }

    /// The node that holds the kernel's references to the file: the node itself, except for hard links.
    func holder(of node: Node) -> Node { byInode[node.inodeNumber] ?? node }

    // MARK: Coming and going

    mutating func insert(_ node: Node) {
        mayHaveIdle = true
        byNumber[node.number] = node
        if !node.isDeleted {
            let holder = byInode[node.inodeNumber]
            if holder == nil || node.inodeNumber == node.number {
                // Another of the file's names was loaded, and perhaps opened, before this one.
                if let holder, holder !== node { handOver(holder, to: node) }
                byInode[node.inodeNumber] = node
            }
            if node.inodeNumber != node.number { linked[node.inodeNumber, default: LinkedNames()].append(node) }
        }
        if let base = node.base { byIdentifier[base.identifier] = node }
        if node.flags.contains(.writing) { writing[node.number] = node }
        if node.flags.contains(.needsListing) { needsListing.insert(node.number) }
    }

    /// A file without a name is found by its inode number only.
    mutating func insertUnnamed(_ node: Node) { byInode[node.number] = node }

    /// Forgets the item permanently. The kernel's references are still found by its inode number.
    mutating func remove(_ node: Node) {
        byNumber[node.number] = nil
        writing[node.number] = nil
        needsListing.remove(node.number)
    }

    /// Notes that the kernel has no references to this inode number any more.
    mutating func remove(inode number: ItemNumber) { byInode[number] = nil }

    /// Drops the node from memory; the item stays in the database. Nothing of it may be in use.
    mutating func unload(_ node: Node) {
        byNumber[node.number] = nil
        byInode[node.inodeNumber] = nil
        linked[node.inodeNumber] = nil
        if let base = node.base { byIdentifier[base.identifier] = nil }
    }

    /// - Returns: The identifier under which the node was found, if it differs from that of `base`.
    mutating func setBase(_ base: Base?, of node: Node) -> ItemIdentifier? {
        var former: ItemIdentifier?
        if let old = node.base?.identifier, byIdentifier[old] === node {
            byIdentifier[old] = nil
            if base?.identifier != old { former = old }
        }
        node.base = base
        if let base { byIdentifier[base.identifier] = node }
        return former
    }

    // MARK: Descriptors

    /// Notes that the folder has a descriptor now.
    mutating func noteOpen(_ folder: Node) { openFolders.append(folder) }

    /// If too many folders are open, closes those that were opened first.
    mutating func closeSurplusFolders() {
        guard openFolders.count > Self.mostOpenFolders else { return }
        let surplus = openFolders.count - Self.mostOpenFolders / 2
        for folder in openFolders.prefix(surplus) where folder.descriptor >= 0 && folder.parent != nil {
            close(folder.descriptor)
            folder.descriptor = -1
        }
        openFolders.removeFirst(surplus)
    }

    // MARK: Hard links

    /// All names of the node's file: only the node itself, except for hard links.
    func names(of node: Node) -> [Node] {
        guard let others = linked[node.inodeNumber] else { return [node] }
        let first = byNumber[node.inodeNumber].map { [$0] } ?? []
        let all = (first + others.nodes).filter { !$0.isDeleted }
        return all.contains { $0 === node } ? all : all + [node]
    }

    /// Whether other names have the node's inode number.
    func isLinked(_ node: Node) -> Bool { linked[node.inodeNumber] != nil }

    mutating func link(_ node: Node, to owner: Node) {
        if byInode[node.inodeNumber] === node { byInode[node.inodeNumber] = nil }
        node.inodeNumber = owner.inodeNumber
        linked[node.inodeNumber, default: LinkedNames()].append(node)
    }

    /// Notes that the node's name is gone. The kernel's references stay reachable by its inode number.
    mutating func unlink(_ node: Node) {
        linked[node.inodeNumber]?.remove(node)
        if linked[node.inodeNumber]?.isEmpty == true { linked[node.inodeNumber] = nil }
        guard byInode[node.inodeNumber] === node else { return }
        let owner = byNumber[node.inodeNumber].flatMap { $0 === node ? nil : $0 }
        if let other = linked[node.inodeNumber]?.first ?? owner {
            byInode[node.inodeNumber] = other
            handOver(node, to: other)
        } else if node.lookups == 0 && node.opens == 0 {
            byInode[node.inodeNumber] = nil
        }
    }

    /// Gives a file that is now separate its own number; its other names keep the old file.
    /// - Returns: The nodes that changed.
    mutating func separate(_ node: Node) -> [Node] {
        let others = names(of: node).filter { $0 !== node }
        let old = node.inodeNumber
        guard let first = others.first else {
            guard old != node.number else { return [] }
            // The other names with this number are not loaded.
            linked[old] = nil
            if byInode[old] === node { byInode[old] = nil }
            node.inodeNumber = node.number
            byInode[node.number] = node
            return [node]
        }
        linked[old] = nil
        if old == node.number {
            for other in others { other.inodeNumber = first.number }
            byInode[first.number] = first
        } else if byInode[old] === node {
            // The name whose number it is has gone.
            byInode[old] = first
            handOver(node, to: first)
        }
        node.inodeNumber = node.number
        byInode[node.number] = node
        for other in others where other.inodeNumber != other.number {
            linked[other.inodeNumber, default: LinkedNames()].append(other)
        }
        return others
    }

    /// Moves the kernel's references of a file to another of its names.
    private mutating func handOver(_ node: Node, to other: Node) {
        other.lookups += node.lookups
        other.opens += node.opens
        other.writers += node.writers
        other.generation = max(other.generation, node.generation)
        other.kernelFile = node.kernelFile
        other.mayBeMapped = other.mayBeMapped || node.mayBeMapped
        other.hasSyncedWriter = other.hasSyncedWriter || node.hasSyncedWriter
        other.wasSentWhileWritten = other.wasSentWhileWritten || node.wasSentWhileWritten
        if node.writers > 0 || node.mayBeMapped {
            writing[node.number] = nil
            writing[other.number] = other
        }
        (node.lookups, node.opens, node.writers) = (0, 0, 0)
        (node.mayBeMapped, node.hasSyncedWriter, node.wasSentWhileWritten) = (false, false, false)
    }
}
