import CLinux
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaControl

/// Unmounting without a daemon.
@Suite struct DetachmentTests {
    /// A user who may rename in a folder above puts another mount at the path after the check.
    @Test(.enabled(if: geteuid() == 0)) func aMountThatTookItsPlaceStays() async throws {
        let folder = try TemporaryFolder()
        let points = ["a", "b"].map { folder.path.appending($0).appending("point") }
        defer { for point in points { umount2(point.string, Int32(MNT_DETACH)) } }
        for name in ["a", "b"] {
            let point = try folder.makeFolder(name + "/point")
            #expect(try await run("/usr/bin/mount", "-t", "tmpfs", name, point.string).code == 0)
        }
        var status = cl_statx()
        #expect(cl_statx_of(AT_FDCWD, points[0].string, 0, CL_STATX_MNT_ID_UNIQUE, &status) == 0)
        let device = DeviceNumber(major: status.dev_major, minor: status.dev_minor)
        let record = try MountRecord(at: points[0], device: device, number: status.mnt_id)
        let isUnmounted = record.withRoot { root in
            let (one, other) = (folder.path.appending("a").string, folder.path.appending("b").string)
            #expect(renameat2(AT_FDCWD, one, AT_FDCWD, other, UInt32(CL_RENAME_EXCHANGE)) == 0)
            return Detachment.unmount(root, at: points[0])
        }
        #expect(isUnmounted == true)
        #expect(try MountTable.read().filter { $0.path.starts(with: folder.path) }.map(\.source) == ["b"])
        #expect(!record.isThere)
    }

    @Test(.enabled(if: geteuid() == 0)) func aMountRemovedByOthersIsNoError() async throws {
        let folder = try TemporaryFolder()
        let point = try folder.makeFolder("point")
        #expect(try await run("/usr/bin/mount", "-t", "tmpfs", "none", point.string).code == 0)
        let root = open(point.string, CL_O_PATH | O_CLOEXEC)
        defer { close(root) }
        #expect(umount2(point.string, Int32(MNT_DETACH)) == 0)
        #expect(Detachment.unmount(root, at: point))
    }
}
