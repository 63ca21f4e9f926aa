import CLinux
import CMount
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

    /// A mount of this boot.
    /// - Throws: An `Errno`.
    package init(at path: FilePath, device: DeviceNumber, number: UInt64) throws {
        self.path = ControlFilePath(path)
        (self.device, self.number) = (device, number)
        let boot = try FileBytes.readIfPresent(FilePath(CL_BOOT_ID)) ?? []
        self.boot = String(decoding: boot.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The mount whose root this descriptor is.
    private init(at path: FilePath, root: Int32) throws {
        let mount = try cmount_identity(of: root)
        try self.init(
            at: path, device: DeviceNumber(major: mount.major, minor: mount.minor),
            number: mount.unique == 0 ? mount.number : mount.unique)
    }

    /// Whether this mount is still the topmost at its path.
    package var isThere: Bool { withRoot { _ in true } ?? false }

    /// Calls `body` with a descriptor (`O_PATH`) of the mount's root; nil if it is not the topmost at its path any more.
    package func withRoot<Value>(_ body: (Int32) -> Value) -> Value? {
        let root = open(path.path.string, CL_O_PATH | O_NOFOLLOW | O_CLOEXEC)
        guard root >= 0 else { return nil }
        defer { close(root) }
        do { return try MountRecord(at: path.path, root: root) == self ? body(root) : nil } catch { return nil }
    }

    /// The record in the domain's state; nil if there is none, or it cannot be read.
    package static func read(state: FilePath) -> MountRecord? {
        do {
            guard let bytes = try FileBytes.readIfPresent(state.appending(name)) else { return nil }
            return try ControlCodec.decode(MountRecord.self, from: bytes)
        } catch {
            return nil
        }
    }

    /// Writes it into the domain's state.
    /// - Throws: An `Errno`, or the encoder's error.
    package func write(state: FilePath) throws {
        let fresh = try Self.write(ControlCodec.encode(self), state: state)
        guard rename(fresh.string, state.appending(Self.name).string) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Makes sure that there is room for a record.
    /// - Throws: An `Errno`.
    package static func makeRoom(state: FilePath) throws {
        // More than any record has.
        _ = try write([UInt8](repeating: 0, count: 1 << 15), state: state)
    }

    private static func write(_ bytes: [UInt8], state: FilePath) throws -> FilePath {
        let fresh = state.appending("mount.json.new")
        let file = try FileDescriptor.open(
            fresh, .writeOnly, options: [.create, .truncate, .closeOnExec, .noFollow], permissions: .ownerReadWrite)
        try file.closeAfter { _ = try file.writeAll(bytes) }
        return fresh
    }

    /// Removes the record after the mount is gone.
    package static func remove(state: FilePath) {
        unlink(state.appending(name).string)
    }
}
