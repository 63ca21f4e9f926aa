import CLinux
import Glibc
package import SystemPackage

/// Identifies a domain's mount: `STATE/mount.json`, present while it is mounted, and after a crash. A path or a
/// name alone could refer to another mount by now.
package struct MountRecord: Codable, Equatable, Sendable {
    /// The file's name in the state directory.
    package static let name: FilePath.Component = "mount.json"

    /// Where it was mounted.
    package let path: ControlFilePath
    /// Its filesystem.
    package let device: DeviceNumber
    /// The unique mount ID, not reused until reboot; before Linux 6.8 the reusable one.
    package let number: UInt64
    /// The boot ID.
    package let boot: String

    /// The topmost mount at this path.
    /// - Throws: An `Errno`.
    package init(at path: FilePath) throws {
        self.path = ControlFilePath(path)
        let place = open(path.string, CL_O_PATH | O_NOFOLLOW | O_CLOEXEC)
        guard place >= 0 else { throw Errno(rawValue: errno) }
        defer { close(place) }
        var status = try Self.status(place, 0)
        device = DeviceNumber(major: status.dev_major, minor: status.dev_minor)
        do { status = try Self.status(place, CL_STATX_MNT_ID_UNIQUE) } catch Errno.permissionDenied {
            // Another user's mount reveals only its device; the number is then the one that all kernels have.
        }
        number = status.mnt_id
        let boot = try FileBytes.readIfPresent(FilePath(CL_BOOT_ID)) ?? []
        self.boot = String(decoding: boot.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// statx(2) without a request to the mount's daemon, which may hang.
    private static func status(_ place: Int32, _ mask: UInt32) throws -> cl_statx {
        var status = cl_statx()
        guard cl_statx_of(place, "", CL_AT_EMPTY_PATH | CL_AT_STATX_DONT_SYNC, mask, &status) == 0 else {
            throw Errno(rawValue: errno)
        }
        return status
    }

    /// Whether this mount is still the topmost at its path.
    package var isThere: Bool {
        do { return try MountRecord(at: path.path) == self } catch { return false }
    }

    /// The record in the domain's state; nil if there is none, or it cannot be read.
    package static func read(state: FilePath) -> MountRecord? {
        do {
            guard let bytes = try FileBytes.readIfPresent(state.appending(name)) else { return nil }
            return try ControlLine.decode(MountRecord.self, from: bytes)
        } catch {
            return nil
        }
    }

    /// Writes it into the domain's state.
    /// - Throws: An `Errno`, or the encoder's error.
    package func write(state: FilePath) throws {
        let bytes = try ControlLine.encode(self)
        let fresh = state.appending("mount.json.new")
        let file = try FileDescriptor.open(
            fresh, .writeOnly, options: [.create, .truncate, .closeOnExec, .noFollow], permissions: .ownerReadWrite)
        try file.closeAfter { _ = try file.writeAll(bytes) }
        guard rename(fresh.string, state.appending(Self.name).string) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Removes the record after the mount is gone.
    package static func remove(state: FilePath) {
        unlink(state.appending(name).string)
    }
}
