import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// The folders that the store's user owns and may not write (mode 0555), such as those of a read-only tree that was copied
/// into the mount. They get the missing permissions while calls change their entries, and are shown as they were before.
/// Root needs none.
final class ReadOnlyFolders: Sendable {
    private struct Writable {
        var mode: UInt16
        var calls = 1
    }
    private let writable = Locked<[ItemKey: Writable]>([:])
    private static let needed = UInt16(OwnerPermissions.toChangeEntries)

    /// Calls `body` while entries of the folders can be changed.
    func around<Result>(
        _ folders: [(key: ItemKey, handle: OpenDescriptor)], _ body: () throws(RemoteStoreError) -> Result
    ) throws(RemoteStoreError) -> Result {
        guard geteuid() != 0 else { return try body() }
        // The root is the user's own directory: whoever makes it read-only means the store.
        let held = folders.filter { $0.key != .root && makeWritable($0.key, $0.handle) }
        defer { for folder in held { release(folder.key, folder.handle) } }
        return try body()
    }

    /// The mode of an item as it is without a call of this store.
    func mode(of key: ItemKey, now mode: UInt16) -> UInt16 {
        writable.withLock { $0[key].map { $0.mode | Self.needed == mode ? $0.mode : mode } ?? mode }
    }

    /// Records the mode that a call is about to set.
    func note(_ mode: UInt16, of key: ItemKey) { writable.withLock { $0[key]?.mode = mode } }

    private func makeWritable(_ key: ItemKey, _ folder: OpenDescriptor) -> Bool {
        writable.withLock { writable in
            if writable[key] != nil {
                writable[key]?.calls += 1
                return true
            }
            // If that fails, so does the call, with its own error.
            guard let mode = try? OwnerPermissions.lift(OwnerPermissions.toChangeEntries, of: folder.raw) else {
                return false
            }
            writable[key] = Writable(mode: UInt16(mode))
            return true
        }
    }

    private func release(_ key: ItemKey, _ folder: OpenDescriptor) {
        writable.withLock { writable in
            guard let own = writable[key] else { return }
            writable[key]?.calls -= 1
            guard own.calls == 1 else { return }
            var status = stat()
            // Another program's chmod meanwhile stays, unless it is to the same mode.
            if fstat(folder.raw, &status) == 0, UInt16(status.st_mode & 0o7777) == own.mode | Self.needed {
                OwnerPermissions.restore(mode_t(own.mode), of: folder.raw)
            }
            writable[key] = nil
        }
    }
}
