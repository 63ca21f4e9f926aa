internal import FuseMount
internal import ReplicaModel

/// What open files and folders are behind their handles.
final class HandleTable<Opened: Sendable>: Sendable {
    private struct Contents {
        var opened: [FileHandle: Opened] = [:]
        var next: FileHandle = 1
    }

    private let contents = Locked(Contents())

    func insert(_ opened: Opened) -> FileHandle {
        contents.withLock { contents in
            let handle = contents.next
            contents.next += 1
            contents.opened[handle] = opened
            return handle
        }
    }

    subscript(handle: FileHandle) -> Opened? {
        contents.withLock { $0.opened[handle] }
    }

    func remove(_ handle: FileHandle) -> Opened? {
        contents.withLock { $0.opened.removeValue(forKey: handle) }
    }

    /// Takes all out, at the end of the mount.
    @discardableResult
    func removeAll() -> [Opened] {
        contents.withLock { contents in
            defer { contents.opened.removeAll() }
            return Array(contents.opened.values)
        }
    }
}
