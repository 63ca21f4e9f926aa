import FuseMount
import Glibc

/// A read-only folder of text files. Requests without a method here are answered with ENOSYS, which the kernel handles.
public final class TextFolder: FileSystem {
    private let names: [String]
    private let contents: [[UInt8]]

    /// - Parameter texts: The contents of the files, by their names.
    public init(_ texts: [String: String]) {
        names = texts.keys.sorted()
        contents = names.map { Array(texts[$0]!.utf8) }
    }

    /// The root is node 1; the file at index i is node i + 2.
    private func content(of node: NodeID) -> [UInt8]? {
        node >= 2 && node < UInt64(2 + contents.count) ? contents[Int(node) - 2] : nil
    }

    private func attributes(of node: NodeID) -> Attributes? {
        if node == rootNode { return Attributes(ino: node, mode: S_IFDIR | 0o555, nlink: 2) }
        return content(of: node).map { Attributes(ino: node, mode: S_IFREG | 0o444, size: Int64($0.count)) }
    }

    public func lookup(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EntryReply
    ) {
        let node = names.firstIndex(of: String(cString: name)).map { NodeID(2 + $0) }
        guard parent == rootNode, let node, let attributes = attributes(of: node) else {
            return reply.fail(.noSuchFileOrDirectory)
        }
        reply.send(Entry(node: node, attributes: attributes))
    }

    public func getattr(
        _ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming AttributesReply
    ) {
        guard let attributes = attributes(of: node) else { return reply.fail(.noSuchFileOrDirectory) }
        reply.send(attributes, timeout: 1)
    }

    public func read(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DataReply
    ) {
        guard let content = content(of: node) else { return reply.fail(.isDirectory) }
        reply.send(Array(content.dropFirst(Int(offset)).prefix(size)))
    }

    public func readdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        var listing = DirectoryBuffer(capacity: size)
        for index in names.indices.dropFirst(Int(offset)) {
            let ino = UInt64(2 + index)
            guard listing.add(name: names[index], ino: ino, mode: S_IFREG, next: Int64(index + 1)) else { break }
        }
        reply.send(listing)
    }
}
