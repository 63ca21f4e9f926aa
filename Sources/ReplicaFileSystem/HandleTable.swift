internal import FuseMount
internal import ReplicaModel
internal import Threads

/// Maps handles to open files and folders.
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

    /// Removes all, at the end of the mount.
    @discardableResult
    func removeAll() -> [Opened] {
        contents.withLock { contents in
            defer { contents.opened.removeAll() }
            return Array(contents.opened.values)
        }
    }
}
