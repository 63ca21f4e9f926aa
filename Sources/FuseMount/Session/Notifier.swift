internal import CFuse
internal import Glibc
internal import Threads

/// Notifies the kernel of changes that it does not know about.
///
/// May be called from any thread; nothing blocks: a separate thread sends the notifications in order. However, a
/// notification can wait in the kernel for a lock that a request holds, so the answer to a request must never wait for
/// a notification. Notifications about unknown nodes, and before or after the lifetime of the mount, are ignored.
public final class Notifier: Sendable {
    private enum Message: Sendable {
        case inode(NodeID, offset: Int64, length: Int64)
        case entry(parent: NodeID, name: [UInt8])
        case expiry(parent: NodeID, name: [UInt8])
        case deletion(parent: NodeID, child: NodeID, name: [UInt8])
        case call(@Sendable () -> Void)
    }

    private struct Queue {
        var messages: [Message] = []
        var isStopping = false
        var thread: Thread?
    }

    private let queue = Gate(Queue())

    init() {}

    /// Drops a node's cached attributes and the pages of a range.
    /// - Parameters:
    ///   - node: the file.
    ///   - offset: negative for attributes only.
    ///   - length: 0 for everything after `offset`.
    public func invalidateInode(_ node: NodeID, offset: Int64 = 0, length: Int64 = 0) {
        enqueue(.inode(node, offset: offset, length: length))
    }

    /// Drops the cached entry of a name, whether positive or negative.
    public func invalidateEntry(parent: NodeID, name: [UInt8]) {
        enqueue(.entry(parent: parent, name: name))
    }

    /// Like ``invalidateEntry(parent:name:)``, for a name whose node `child` was deleted.
    ///
    /// inotify watchers of the child itself are notified (IN_DELETE_SELF), but not those of the folder (Linux 6.18).
    public func deleteEntry(parent: NodeID, child: NodeID, name: [UInt8]) {
        enqueue(.deletion(parent: parent, child: child, name: name))
    }

    /// Has the name looked up again at its next use, without dropping the entries below it.
    public func expireEntry(parent: NodeID, name: [UInt8]) {
        enqueue(.expiry(parent: parent, name: name))
    }

    /// Calls `body` on the notifier's thread when everything queued before has been sent. After the end of the mount it
    /// is called immediately, on the calling thread.
    public func afterQueued(_ body: @escaping @Sendable () -> Void) {
        if !enqueue(.call(body)) { body() }
    }

    @discardableResult
    private func enqueue(_ message: Message) -> Bool {
        queue.withLock { queue in
            guard !queue.isStopping else { return false }
            queue.messages.append(message)
            return true
        }
    }

    /// Begins to send. The session stays alive until ``stop()``.
    /// - Parameter makeThread: Starts a thread.
    /// - Returns: False if no thread could be created: nothing is sent then, and ``stop()`` has to follow.
    func start(
        _ session: Unmanaged<Session>, _ makeThread: (@escaping @Sendable () -> Void) -> Thread?
    ) -> Bool {
        let pointer = SessionPointer(session: session)
        guard let thread = makeThread({ [self] in send(pointer.session) }) else { return false }
        queue.withLock { $0.thread = thread }
        return true
    }

    private struct SessionPointer: @unchecked Sendable {
        // Unchecked: a Session may be used by any thread.
        let session: Unmanaged<Session>
    }

    /// Sends what is queued and ends the thread. Without a thread nothing can be sent, but the bodies of
    /// ``afterQueued(_:)`` are called, because somebody may wait for them.
    func stop() {
        let (thread, left) = queue.withLock { queue in
            queue.isStopping = true
            defer { queue.thread = nil }
            guard queue.thread == nil else { return (queue.thread, [Message]()) }
            defer { queue.messages = [] }
            return (nil, queue.messages)
        }
        thread?.join()
        for case .call(let body) in left { body() }
    }

    private func send(_ session: Unmanaged<Session>) {
        let handle = session._withUnsafeGuaranteedRef { $0.state.withLock { $0.handle } }
        while true {
            queue.wait { !$0.messages.isEmpty || $0.isStopping }
            let batch = queue.withLock { queue in
                defer { queue.messages = [] }
                return queue.messages
            }
            if batch.isEmpty { return }
            for message in batch { send(message, to: handle) }
        }
    }

    /// Errors mean that the kernel doesn't know the node or the name, or that the mount is gone.
    private func send(_ message: Message, to handle: OpaquePointer?) {
        switch message {
        case .inode(let node, let offset, let length):
            fuse_lowlevel_notify_inval_inode(handle, node, Int(offset), Int(length))
        case .entry(let parent, let name):
            withName(name) { fuse_lowlevel_notify_inval_entry(handle, parent, $0, $1) }
        case .expiry(let parent, let name):
            withName(name) { cfuse_notify_expiry(handle, parent, $0, $1) }
        case .deletion(let parent, let child, let name):
            withName(name) { fuse_lowlevel_notify_delete(handle, parent, child, $0, $1) }
        case .call(let body):
            body()
        }
    }

    private func withName(_ name: [UInt8], _ body: (UnsafePointer<CChar>, Int) -> Int32) {
        (name + [0]).withUnsafeBytes { bytes in
            _ = body(bytes.assumingMemoryBound(to: CChar.self).baseAddress!, name.count)
        }
    }
}
