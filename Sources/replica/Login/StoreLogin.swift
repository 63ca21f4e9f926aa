import Glibc
import ReplicaControl
import SystemPackage

/// A login that was asked for.
struct StoreLogin {
    let secrets: [String: String]
    let place: LoginPlace
    /// The URL of a store that it is for.
    let store: String
}

/// A file for a login that did not exist before.
struct NewSecretFile {
    private let path: [CChar]
    private let file: FileDescriptor

    init(_ path: [UInt8]) throws {
        self.path = path.map { CChar(bitPattern: $0) } + [0]
        let file = open(self.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw ControlFailure(.failed, "\(String(decoding: path, as: UTF8.self)): \(Errno(rawValue: errno))")
        }
        self.file = FileDescriptor(rawValue: file)
    }

    /// Writes lines of `name=value`.
    func write(_ secrets: [String: String]) throws {
        let lines = secrets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }
        _ = try file.writeAll(lines.joined().utf8)
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        try file.close()
    }

    func remove() { unlink(path) }
}
