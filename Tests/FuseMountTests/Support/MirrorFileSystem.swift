import CLinux
import Glibc
import SystemPackage
import Threads

@testable import FuseMount

/// Shows another folder, by descriptors. Counts the requests and caches nothing for long unless told. Large: a method for each
/// request of the kernel.
final class MirrorFileSystem: FileSystem {
    let features: Features
    let usesBacking: Bool
    let calls = Calls()
    let session = Gate<Session?>(nil)
    /// How long names and attributes stay valid, in seconds.
    let timeout = Gate<Double>(0)
    /// O_PATH descriptors by node. Kept to the end: a test has few.
    private let nodes: Gate<[NodeID: Int32]>
    private let backings = Gate<[NodeID: (id: BackingID, opens: Int)]>([:])

    init(_ root: String, features: Features, usesBacking: Bool) throws {
        let descriptor = Glibc.open(root, CL_O_PATH | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        self.features = features
        self.usesBacking = usesBacking
        nodes = Gate([rootNode: descriptor])
    }

    deinit {
        nodes.withLock { nodes in for descriptor in nodes.values { close(descriptor) } }
    }

    func start(_ session: Session) {
        self.session.withLock { $0 = session }
        calls.note("start")
    }

    func stop() {
        session.withLock { $0 = nil }
        calls.note("stop")
    }

    func descriptor(_ node: NodeID) -> Int32 {
        nodes.withLock { $0[node] ?? -1 }
    }

    func link(_ node: NodeID) -> String { "/proc/self/fd/\(descriptor(node))" }

    func entry(_ parent: NodeID, _ name: UnsafePointer<CChar>) throws(Errno) -> Entry {
        let descriptor = openat(descriptor(parent), name, CL_O_PATH | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        return try entry(adopting: descriptor)
    }

    func entry(adopting descriptor: Int32) throws(Errno) -> Entry {
        let attributes = try attributes(descriptor)
        // The root's number may be anything; all others are their own.
        let node = attributes.ino == rootNode ? UInt64.max : attributes.ino
        let isNew = nodes.withLock { nodes in
            guard nodes[node] == nil else { return false }
            nodes[node] = descriptor
            return true
        }
        if !isNew { close(descriptor) }
        let timeout = timeout.withLock { $0 }
        return Entry(node: node, attributes: attributes, entryTimeout: timeout, attributeTimeout: timeout)
    }

    func attributes(_ descriptor: Int32) throws(Errno) -> Attributes {
        var status = Glibc.stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno(rawValue: errno) }
        return Attributes(status)
    }

    /// The forgotten node's number may be used again by another file.
    func forget(_ forgotten: UnsafeBufferPointer<Forget>) {
        for forget in forgotten where forget.node != rootNode {
            calls.note("forget")
            nodes.withLock { nodes in
                // A lookup that runs now may have answered it anew, so only a deleted file's node goes. What can't
                // be asked for its links stays.
                guard let descriptor = nodes[forget.node], let now = try? attributes(descriptor), now.nlink == 0
                else { return }
                nodes[forget.node] = nil
                close(descriptor)
            }
        }
    }

    /// What an open answers: the same backing file for all opens of a node.
    func opened(_ node: NodeID, _ file: Int32) -> OpenedFile {
        guard usesBacking, let session = session.withLock({ $0 }), session.supportsPassthrough else {
            return OpenedFile(handle: FileHandle(file))
        }
        let backing = backings.withLock { backings -> BackingID? in
            if let known = backings[node] {
                backings[node] = (known.id, known.opens + 1)
                return known.id
            }
            // Refused for whatever reason, the file is read and written through here.
            guard let id = try? session.registerBacking(descriptor(node)) else { return nil }
            backings[node] = (id, 1)
            return id
        }
        return OpenedFile(handle: FileHandle(file), backing: backing)
    }

    func closed(_ node: NodeID) {
        backings.withLock { backings in
            guard let known = backings[node] else { return }
            backings[node] = known.opens > 1 ? (known.id, known.opens - 1) : nil
            if known.opens == 1 { session.withLock { $0 }?.unregisterBacking(known.id) }
        }
    }
}
