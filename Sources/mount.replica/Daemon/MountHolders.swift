import CLinux
import Glibc
import ReplicaControl
import SystemPackage

/// The users of a filesystem, wherever it is mounted, or if it is detached.
enum MountHolders {
    /// The processes with their working directory, an open or a mapped file in it, or the first of a mount namespace with a
    /// copy. Only those that this process may inspect; sends no request to the filesystem itself.
    static func processes(using device: DeviceNumber) -> [Int32] {
        var copies: Set<String> = [namespace(of: getpid())]
        return numbers(in: "/proc").filter { process in
            guard process != getpid() else { return false }
            let isThere = uses(process, device)
            return hasCopy(process, device, &copies) || isThere
        }
    }

    /// `bash (123)`; nil if it has exited.
    static func name(of process: Int32) -> String? {
        let bytes = text("/proc/\(process)/comm").prefix { $0 != UInt8(ascii: "\n") }
        return bytes.isEmpty ? nil : "\(String(decoding: bytes, as: UTF8.self)) (\(process))"
    }

    private static func uses(_ process: Int32, _ device: DeviceNumber) -> Bool {
        let folder = "/proc/\(process)"
        if ["cwd", "root", "exe"].contains(where: { isOn(device, "\(folder)/\($0)") }) { return true }
        if numbers(in: "\(folder)/fd").contains(where: { isOn(device, "\(folder)/fd/\($0)") }) { return true }
        let number = " \(hexadecimal(device.major)):\(hexadecimal(device.minor)) "
        return String(decoding: text("\(folder)/maps"), as: UTF8.self).contains(number)
    }

    private static func isOn(_ device: DeviceNumber, _ path: String) -> Bool {
        var status = cl_statx()
        return cl_statx_of(AT_FDCWD, path, CL_AT_STATX_DONT_SYNC, 0, &status) == 0
            && DeviceNumber(major: status.dev_major, minor: status.dev_minor) == device
    }

    /// Whether it is the first process of a namespace with a copy of the mount.
    private static func hasCopy(_ process: Int32, _ device: DeviceNumber, _ seen: inout Set<String>) -> Bool {
        let namespace = namespace(of: process)
        guard !namespace.isEmpty, seen.insert(namespace).inserted else { return false }
        do { return try MountTable.read(of: process).contains { $0.device == device } } catch { return false }
    }

    private static func namespace(of process: Int32) -> String {
        var target = [UInt8](repeating: 0, count: 64)
        let length = readlink("/proc/\(process)/ns/mnt", &target, target.count)
        return String(decoding: target.prefix(max(0, length)), as: UTF8.self)
    }

    private static func hexadecimal(_ number: UInt32) -> String {
        let text = String(number, radix: 16)
        return text.count < 2 ? "0" + text : text
    }

    /// If it can't be read, the process has ended or belongs to another user.
    private static func text(_ path: String) -> [UInt8] {
        do { return try FileBytes.readIfPresent(FilePath(path), limit: 1 << 26) ?? [] } catch { return [] }
    }

    private static func numbers(in path: String) -> [Int32] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let number = Int32(name) { found.append(number) }
        }
        return found.sorted()
    }
}
