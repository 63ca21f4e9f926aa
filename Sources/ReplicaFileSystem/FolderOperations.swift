public import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// An open folder: its entries as they were when reading began.
final class OpenedFolder: Sendable {
    let number: ItemNumber
    let listing = Locked<Listing?>(nil)

    init(_ number: ItemNumber) {
        self.number = number
    }

    struct Listing: Sendable {
        var parent: ItemNumber
        var entries: [FolderEntry]
    }
}

/// Listing folders. An offset is the place behind an entry: 1 is `.`, 2 is `..`, the others follow.
extension DomainFileSystem {
    public func opendir(_ context: RequestContext, node: NodeID, flags: Int32, reply: consuming OpenReply) {
        let handle = folders.insert(OpenedFolder(NodeNumber.item(node)))
        if !reply.send(OpenedFile(handle: handle)) { _ = folders.remove(handle) }
    }

    public func releasedir(_ context: RequestContext, node: NodeID, handle: FileHandle, reply: consuming EmptyReply) {
        _ = folders.remove(handle)
        reply.succeed()
    }

    public func fsyncdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        answer(context, reply) { [self] () throws(Obstacle) in
            let descriptor = try replica.reopen(NodeNumber.item(node), flags: O_RDONLY | O_DIRECTORY)
            defer { Glibc.close(descriptor) }
            guard Glibc.fsync(descriptor) == 0 else { throw .errno(.last) }
            try recordDurably()
        } send: { reply, _ in
            reply.succeed()
        }
    }

    public func readdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        guard let folder = folders[handle] else { return reply.fail(.badFileDescriptor) }
        answer(context, reply) { [self] () throws(Obstacle) in
            FolderPage(try listing(of: folder, offset), folder.number, from: offset, size: size, headerSize: 24)
        } send: { reply, page in
            var buffer = DirectoryBuffer(capacity: size)
            for (index, line) in page.lines.enumerated() {
                let next = offset + Int64(index) + 1
                let isIn = line.name.withCString {
                    buffer.add(name: $0, ino: line.number.rawValue, mode: line.mode, next: next)
                }
                guard isIn else { break }
            }
            reply.send(buffer)
        }
    }

    public func readdirplus(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        guard let folder = folders[handle] else { return reply.fail(.badFileDescriptor) }
        answer(context, reply) { [self] () throws(Obstacle) in
            var page = FolderPage(
                try listing(of: folder, offset), folder.number, from: offset, size: size, headerSize: 152)
            page.entries = try replica.lookup(page.names[...], in: folder.number)
            return page
        } send: { [replica] reply, page in
            var buffer = DirectoryBuffer(capacity: size)
            var isFull = false
            for (index, line) in page.lines.enumerated() {
                let next = offset + Int64(index) + 1
                let found = line.isDots ? nil : page.entries[index - page.dots]
                // A name that is gone since the snapshot is left out.
                guard line.isDots || found != nil else { continue }
                let entry = found.map { FuseMount.Entry($0) } ?? line.dotsEntry
                if !isFull { isFull = !line.name.withCString { buffer.add(name: $0, entry: entry, next: next) } }
                if isFull, let found { replica.forget(found.number, count: 1) }
            }
            reply.send(buffer)
        }
    }

    /// The snapshot of an open folder, taken anew when reading begins at its start.
    private func listing(of folder: OpenedFolder, _ offset: Int64) throws(Obstacle) -> OpenedFolder.Listing {
        if offset > 0, let listing = folder.listing.withLock({ $0 }) { return listing }
        let listing = OpenedFolder.Listing(
            parent: try replica.parent(of: folder.number), entries: try replica.entries(of: folder.number))
        folder.listing.withLock { $0 = listing }
        return listing
    }
}
