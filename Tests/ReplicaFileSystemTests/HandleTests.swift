import CLinux
import FuseMount
import Glibc
import ReplicaTestSupport
import Testing

@testable import ReplicaFileSystem
@testable import ReplicaModel

/// Handles of name_to_handle_at(2), by which NFS servers identify files: they outlive the kernel's cache.
@Suite struct HandleTests {
    @Test func handlesSurviveTheKernelsCache() async throws {
        try await withMount { mounted, checks in
            let folder = mounted.mount + "/d"
            checks.call(mkdir(folder, 0o755))
            checks.call(mkdir(folder + "/sub", 0o755))
            checks.expect(writeFile(folder + "/sub/f", "text"), "write")
            checks.call(link(folder + "/sub/f", folder + "/second"))
            checks.call(symlink("target", folder + "/s"))
            let names = ["d/sub/f", "d/sub", "d", "d/s", "d/second"]
            let handles = names.map { Handle(mounted.mount + "/" + $0) }
            Self.forget(mounted, checks)
            for (name, handle) in zip(names, handles) {
                let file = handle.open(in: mounted.mount, name.hasSuffix("/s") ? CL_O_PATH : O_RDONLY)
                checks.call(file, name)
                var (byHandle, byName) = (stat(), stat())
                checks.call(fstat(file, &byHandle))
                checks.call(lstat(mounted.mount + "/" + name, &byName))
                checks.equal(byHandle.st_ino, byName.st_ino, name)
                checks.equal(byHandle.st_mode, byName.st_mode, name)
                close(file)
            }
            // Also after the first of two names is gone, and after a move.
            checks.call(unlink(folder + "/sub/f"))
            checks.call(rename(folder + "/second", mounted.mount + "/moved"))
            Self.forget(mounted, checks)
            let file = handles[0].open(in: mounted.mount, O_RDWR)
            checks.call(write(file, "TE", 2), "write")
            close(file)
            checks.equal(readFile(mounted.mount + "/moved"), "TExt")
            // A folder's way up is found from nothing.
            Self.forget(mounted, checks)
            let sub = handles[1].open(in: mounted.mount, O_RDONLY | O_DIRECTORY)
            var (above, root) = (stat(), stat())
            checks.call(fstatat(sub, "../..", &above, 0))
            checks.call(stat(mounted.mount, &root))
            checks.equal(above.st_ino, root.st_ino)
            close(sub)
        }
    }

    @Test func deletedNodesAreStale() async throws {
        try await withMount { mounted, checks in
            checks.call(mkdir(mounted.mount + "/d", 0o755))
            checks.expect(writeFile(mounted.mount + "/f", "text"), "write")
            let handles = ["d", "f"].map { Handle(mounted.mount + "/" + $0) }
            checks.call(rmdir(mounted.mount + "/d"))
            checks.call(unlink(mounted.mount + "/f"))
            for handle in handles { checks.expect(handle.isStale(in: mounted.mount), "stale") }
            // What comes by the same names is something else.
            checks.call(mkdir(mounted.mount + "/d", 0o755))
            checks.expect(writeFile(mounted.mount + "/f", "other"), "write")
            Self.forget(mounted, checks)
            for handle in handles { checks.expect(handle.isStale(in: mounted.mount), "stale") }
            // Forged handles lead nowhere.
            var invented = handles[1]
            invented.forge(number: 1 << 40)
            checks.refused(invented.open(in: mounted.mount, O_RDONLY), ESTALE)
            invented.forge(number: 0)
            checks.refused(invented.open(in: mounted.mount, O_RDONLY), ESTALE)
        }
    }

    /// Has the kernel forget all that it does not use, and the replica let go of it.
    private static func forget(_ mounted: MountedReplica, _ checks: Checks) {
        let replica = mounted.replica
        let names = replica.withTree { $0.root.children?.values.map(\.name) ?? [] }
        for name in names { mounted.fileSystem.session?.notifier.invalidateEntry(parent: 1, name: name.bytes) }
        let isForgotten = blockUntil {
            replica.withTree { tree in tree.items.values.allSatisfy { $0 === tree.root || $0.lookups == 0 } }
        }
        checks.expect(isForgotten, "forgotten")
        checks.expect((try? replica.record()) != nil, "recorded")
        replica.withTree { $0.unloadFolders(limit: .max) }
    }
}

/// A handle of a file.
private struct Handle {
    private var handle = cl_file_handle()

    init(_ path: String) {
        handle.size = 128
        var mount: Int32 = 0
        if cl_name_to_handle(AT_FDCWD, path, &handle, &mount, 0) != 0 { handle.size = 0 }
    }

    func open(in mount: String, _ flags: Int32) -> Int32 {
        let root = Glibc.open(mount, O_RDONLY | O_DIRECTORY)
        defer {
            let error = errno
            close(root)
            errno = error
        }
        return withUnsafePointer(to: handle) { cl_open_by_handle(root, $0, flags | O_CLOEXEC) }
    }

    /// Whether it is refused with ESTALE. While the kernel still releases the last descriptor of what is gone, which it
    /// does behind close(2), it knows the inode.
    func isStale(in mount: String) -> Bool {
        blockUntil {
            let file = open(in: mount, O_RDONLY)
            if file >= 0 { close(file) }
            return file < 0 && errno == ESTALE
        }
    }

    /// Puts another node's number in, as the kernel lays it out: its upper half first.
    mutating func forge(number: UInt64) {
        withUnsafeMutableBytes(of: &handle.bytes) { bytes in
            bytes.storeBytes(of: UInt32(truncatingIfNeeded: number >> 32), as: UInt32.self)
            bytes.storeBytes(of: UInt32(truncatingIfNeeded: number), toByteOffset: 4, as: UInt32.self)
        }
    }
}
