internal import SystemPackage

/// The trash of the freedesktop.org specification at the domain's root, for a store that has a trash
/// (docs/decisions/trash.md): `.Trash-UID/files` stands for ``ItemIdentifier/trash``, and everything else in
/// `.Trash-UID` stays local. For any other store these are ordinary folders.
extension Tree {
    /// Whether the direct entries of the folder are in the store's trash.
    func isTrash(_ folder: Node) -> Bool {
        guard folder.isLocalFolder, TrashName.containers.contains(folder.name), let home = folder.parent else {
            return false
        }
        return isTrashHome(home)
    }

    /// Whether the folder exists only for the local trash and is unknown to the store.
    func isOfTrash(_ folder: Node) -> Bool {
        guard folder.isLocalFolder, let parent = folder.parent else { return false }
        return isTrashName(folder.name, in: parent)
    }

    /// The store's identifier of a folder as a parent: the trash has a special one; nil if it has none yet.
    func identifier(ofFolder folder: Node) -> ItemIdentifier? {
        isTrash(folder) ? .trash : folder.base?.identifier
    }

    /// The local folder that corresponds to the store's parent of an item. For an item in the store's trash, the trash
    /// folder of the local user who trashed it; nil for items that others trashed, which are not shown
    /// (docs/decisions/trash.md).
    func folder(of item: Item, as node: Node?) throws(ReplicaError) -> Node? {
        guard item.parent == .trash else { return try find(item.parent) }
        for number in [node?.base?.parent, node?.sent?.parent, node?.parent?.number] {
            guard let number, let folder = try find(number), isTrash(folder) else { continue }
            return folder
        }
        return nil
    }

    /// Refuses renames that would turn a trash folder into an ordinary one, or the reverse. Programs then copy and
    /// delete, as from one filesystem to another, which the store can follow.
    func checkTrash(_ node: Node, to name: FileName, in folder: Node) throws(ReplicaError) {
        guard node.kind == .folder, isOfTrash(node) || isTrashName(name, in: folder) else { return }
        throw .errno(.improperLink)
    }

    /// The file that records where a trashed item was; nil if there is none.
    func trashInfoNode(of name: FileName, in folder: Node) throws(ReplicaError) -> Node? {
        guard isTrash(folder), let home = folder.parent, let infos = try child(TrashName.info, of: home),
            infos.kind == .folder
        else { return nil }
        return try child(TrashName.info(of: name), of: infos)
    }

    private func isTrashHome(_ folder: Node) -> Bool {
        guard folder.isLocalFolder, let parent = folder.parent else { return false }
        return isTrashHomeName(folder.name, in: parent)
    }

    private func isTrashHomeName(_ name: FileName, in folder: Node) -> Bool {
        guard store.keepsTrash else { return false }
        if folder === root { return TrashName.isPersonal(name) }
        return isShared(folder) && TrashName.isUser(name.bytes[...])
    }

    /// Whether the folder is `.Trash` at the root, which an administrator may create for all users.
    private func isShared(_ folder: Node) -> Bool {
        folder.parent === root && folder.name == TrashName.shared && folder.isLocalFolder
    }

    private func isTrashName(_ name: FileName, in folder: Node) -> Bool {
        guard store.keepsTrash else { return false }
        if folder === root, name == TrashName.shared { return true }
        if isTrashHomeName(name, in: folder) { return true }
        return isTrashHome(folder) && (name == TrashName.info || TrashName.containers.contains(name))
    }
}

extension Replica {
    /// Renames the `.trashinfo` together with a trashed item that the engine moved: file managers find both by one name.
    func followTrash(_ move: LocalMove) {
        tidyTrash { () throws(ReplicaError) in
            guard let info = try withTreeWaking({ (tree) throws(ReplicaError) in try tree.trashInfoMove(with: move) })
            else { return }
            guard move.from.number == move.into.number else { return try remove(info.number) }
            try carryOut(info) { (tree, node, folder) throws(ReplicaError) in
                tree.setPlace(of: node, info.newName, folder)
                tree.note(node)
            }
        }
    }

    /// The `.trashinfo` of a trashed item; nil for all others.
    func trashInfo(of number: ItemNumber) -> ItemNumber? {
        var info: ItemNumber?
        tidyTrash { () throws(ReplicaError) in
            info = try withTreeWaking { (tree) throws(ReplicaError) in
                guard let node = tree.items[number], let folder = node.parent else { return nil }
                return try tree.trashInfoNode(of: node.name, in: folder)?.number
            }
        }
        return info
    }

    /// Removes the `.trashinfo` of an item that the engine took from the trash.
    func removeTrashInfo(_ info: ItemNumber) {
        tidyTrash { () throws(ReplicaError) in try remove(info) }
    }

    private func tidyTrash(_ body: () throws(ReplicaError) -> Void) {
        do throws(ReplicaError) {
            try body()
        } catch {
            // A leftover info has no file, and file managers ignore it.
        }
    }
}

extension Tree {
    /// The change of a `.trashinfo` for a move of its file.
    fileprivate func trashInfoMove(with move: LocalMove) throws(ReplicaError) -> LocalMove? {
        guard let folder = items[move.from.number], let info = try trashInfoNode(of: move.oldName, in: folder),
            let infos = info.parent
        else { return nil }
        let name = TrashName.info(of: move.newName)
        let place = presented(infos)
        return LocalMove(
            number: info.number, from: place, oldName: info.name, into: place, newName: name,
            isSeen: infos.lookups > 0)
    }
}

extension Node {
    /// Whether it is a folder that the store doesn't know.
    fileprivate var isLocalFolder: Bool { kind == .folder && base == nil && !isDeleted }
}

/// The names of the freedesktop.org trash specification, version 1.0, "Trash directories".
enum TrashName {
    static let shared = FileName(".Trash")
    /// The folders of trashed files: the specification's, and the one that GVfs moves them to while it deletes them.
    static let containers = [FileName("files"), FileName("expunged")]
    static let info = FileName("info")

    /// Whether it is `.Trash-UID`.
    static func isPersonal(_ name: FileName) -> Bool {
        name.bytes.starts(with: personal) && isUser(name.bytes.dropFirst(personal.count))
    }

    /// Whether it is a user's number.
    static func isUser(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// The name of the file that records where a trashed file was.
    static func info(of name: FileName) -> FileName { FileName(bytes: name.bytes + Array(".trashinfo".utf8)) }

    private static let personal = Array(".Trash-".utf8)
}
