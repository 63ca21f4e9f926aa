package import FuseMount
internal import Glibc
internal import ReplicaModel
internal import SystemPackage

/// Listing folders. An offset is the position after an entry: 1 is `.`, 2 is `..`, and each item has a permanent one.
/// So reading continues at the right place even if entries are created or removed meanwhile, and folders need not be
/// opened: the kernel caches the listings that it has read until something changes in the folder.
extension DomainFileSystem {
    package func opendir(_ context: RequestContext, node: NodeID, flags: Int32, reply: consuming OpenReply) {
        // Tells the kernel never to ask again.
        reply.fail(.noFunction)
    }

    package func releasedir(_ context: RequestContext, node: NodeID, handle: FileHandle, reply: consuming EmptyReply) {
        reply.succeed()
    }

    package func fsyncdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        answer(context, reply) { [self] () throws(ReplicaError) in
            let descriptor = try replica.reopen(NodeNumber.item(node), flags: O_RDONLY | O_DIRECTORY)
            defer { Glibc.close(descriptor) }
            guard Glibc.fsync(descriptor) == 0 else { throw .errno(.last) }
            replica.noteSynced(NodeNumber.number(node), size: 0)
            try recordDurably()
        } send: { reply, _ in
            reply.succeed()
        }
    }

    package func readdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        answer(context, reply) { [self] () throws(ReplicaError) in
            try page(of: node, from: offset, size: size, headerSize: 24)
        } send: { reply, page in
            var buffer = DirectoryBuffer(capacity: size)
            for line in page.lines {
                let isIn = line.name.withCString {
                    buffer.add(name: $0, ino: line.number.rawValue, mode: line.mode, next: line.offset)
                }
                guard isIn else { break }
            }
            reply.send(buffer)
        }
    }

    package func readdirplus(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        answer(context, reply) { [self] () throws(ReplicaError) in
            var page = try page(of: node, from: offset, size: size, headerSize: 152)
            page.entries = try replica.lookup(page.names[...], in: NodeNumber.item(node))
            return page
        } send: { [replica] reply, page in
            var buffer = DirectoryBuffer(capacity: size)
            var isFull = false
            for (index, line) in page.lines.enumerated() {
                let found = line.isDots ? nil : page.entries[index - page.dots]
                // A name that was removed since the snapshot is omitted.
                guard line.isDots || found != nil else { continue }
                let entry = found.map { FuseMount.Entry($0) } ?? line.dotsEntry
                if !isFull { isFull = !line.name.withCString { buffer.add(name: $0, entry: entry, next: line.offset) } }
                if isFull, let found { replica.forget(found.number, count: 1) }
            }
            reply.send(buffer)
        }
    }

    private func page(
        of folder: NodeID, from offset: Int64, size: Int, headerSize: Int
    ) throws(ReplicaError) -> FolderPage {
        let page = FolderPage(
            try listing(of: folder, offset), NodeNumber.number(folder), from: offset, size: size,
            headerSize: headerSize)
        if page.lines.isEmpty { listings.remove(folder) }
        return page
    }

    /// The folder's entries, read again when reading starts at the beginning.
    private func listing(of folder: NodeID, _ offset: Int64) throws(ReplicaError) -> Listing {
        if offset > 0, let listing = listings[folder] { return listing }
        let item = NodeNumber.item(folder)
        let listing = Listing(parent: try replica.parent(of: item), entries: try replica.entries(of: item))
        listings.keep(listing, of: folder)
        return listing
    }
}
