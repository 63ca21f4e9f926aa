import Glibc
import SystemPackage
import Threads

@testable import FuseMount

/// A folder of files that exist by their names alone: `0`, `1`, ... Their reads are parked until a test answers.
///
/// `error-N` is answered with errno N, `dropped` not at all, `parked` when a test does so.
final class SyntheticFileSystem: FileSystem {
    let calls = Calls()
    let reads = Gate<[ParkedReply<FileData>]>([])
    let lookups = Gate<[ParkedReply<Entry>]>([])
    /// What a read gets at once instead of being parked.
    let text = Gate<String?>(nil)
    /// Waits in the read until the caller is interrupted, and parks only then.
    let parksLate: Bool
    private let openFlags: OpenedFile.Flags
    private let onStart: @Sendable () -> Void

    let features: Features
    /// How many files a listing shows.
    private let entries: Int64

    init(
        features: Features = [], entries: Int64 = 0, parksLate: Bool = false,
        openFlags: OpenedFile.Flags = .directIO, onStart: @escaping @Sendable () -> Void = {}
    ) {
        self.features = features
        self.entries = entries
        self.parksLate = parksLate
        self.openFlags = openFlags
        self.onStart = onStart
    }

    func start(_ session: Session) {
        onStart()
        calls.note("start")
    }

    func stop() { calls.note("stop") }

    private func attributes(_ node: NodeID) -> Attributes {
        calls.note("attributes \(node)")
        return Attributes(ino: node, mode: node == rootNode ? S_IFDIR | 0o755 : S_IFREG | 0o644, size: 4096)
    }

    private func entry(_ node: NodeID) -> Entry {
        Entry(node: node, attributes: attributes(node), entryTimeout: 1000, attributeTimeout: 1000)
    }

    func lookup(_ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EntryReply) {
        let name = String(cString: name)
        calls.note("lookup " + name)
        if name == "dropped" { return }
        if name == "parked" {
            let parked = reply.park()
            lookups.withLock { $0.append(parked) }
        } else if name.hasPrefix("error-"), let number = Int32(name.dropFirst(6)) {
            reply.fail(Errno(rawValue: number))
        } else if let number = UInt64(name) {
            reply.send(entry(100 + number))
        } else if name == "absent" {
            reply.send(.negative(timeout: 1000))
        } else {
            reply.fail(.noSuchFileOrDirectory)
        }
    }

    func getattr(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming AttributesReply) {
        reply.send(attributes(node), timeout: 1000)
    }

    func open(_ context: RequestContext, node: NodeID, options: OpenOptions, reply: consuming OpenReply) {
        reply.send(OpenedFile(flags: openFlags))
    }

    func opendir(_ context: RequestContext, node: NodeID, flags: Int32, reply: consuming OpenReply) {
        reply.send(OpenedFile())
    }

    func readdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        calls.note("readdir")
        var buffer = DirectoryBuffer(capacity: size)
        for number in offset..<entries {
            let fits = buffer.add(name: "\(number)", ino: 100 + UInt64(number), mode: S_IFREG, next: number + 1)
            if !fits { break }
        }
        reply.send(buffer)
    }

    func readdirplus(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        calls.note("readdirplus")
        var buffer = DirectoryBuffer(capacity: size)
        for number in offset..<entries {
            guard buffer.add(name: "\(number)", entry: entry(100 + UInt64(number)), next: number + 1) else { break }
        }
        reply.send(buffer)
    }

    func read(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DataReply
    ) {
        calls.note("read")
        if let text = text.withLock({ $0 }) {
            // The file's length doesn't change, so the rest is spaces.
            return reply.send(Array((text + String(repeating: " ", count: 4096 - text.utf8.count)).utf8))
        }
        if parksLate {
            while !reply.isInterrupted { usleep(1000) }
        }
        let parked = reply.park()
        parked.onInterrupt { [calls] in
            calls.note("interrupt")
            parked.take()?.fail(.interrupted)
        }
        reads.withLock { $0.append(parked) }
    }
}
