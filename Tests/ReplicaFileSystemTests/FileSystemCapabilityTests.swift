import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

/// Operations that the store does not allow fail for programs on the mount.
@Suite struct FileSystemCapabilityTests {
    @Test func missingCapabilitiesRefuseTheSystemCall() async throws {
        let store = MemoryStore()
        store.write("one", to: "d/x")
        store.allow([.reading], of: "d/x")
        store.allow([.reading], of: "d")
        try await withDomain(store, enforcing: true) { mounted, checks in
            let (folder, file) = (mounted.mount + "/d", mounted.mount + "/d/x")
            checks.expect(blockUntil { readFile(file) == "one" }, "read")
            checks.refused(open(file, O_WRONLY), EACCES)
            checks.refused(open(file, O_RDWR | O_TRUNC), EACCES)
            checks.refused(truncate(file, 0), EACCES)
            checks.equal((status(file)?.st_mode ?? 0) & 0o777, 0o444)
            checks.refused(mkdir(folder + "/new", 0o755), EACCES)
            checks.refused(open(folder + "/new", O_WRONLY | O_CREAT, 0o644), EACCES)
            checks.refused(unlink(file), EPERM)
            checks.refused(rename(file, mounted.mount + "/y"), EPERM)
            checks.refused(rename(folder, mounted.mount + "/e"), EPERM)
            checks.refused(chmod(file, 0o600), EPERM)

            store.allow(.all, of: "d/x")
            checks.expect(blockUntil { (status(file)?.st_mode ?? 0) & 0o777 == 0o644 }, "allowed again")
            let opened = checks.call(open(file, O_WRONLY | O_TRUNC))
            checks.call(close(opened))
            checks.equal(names(in: folder), ["x"])
        }
    }
}
