import Glibc
import SystemPackage

/// The folder of `.logins`, opened once and checked: in a folder that others can write to, the file could be an older one or a link.
/// Everything in it is accessed through its descriptor.
final class LoginFolder {
    static let file = ".logins"
    private static let new = ".logins.new"

    private let descriptor: Int32
    private let path: FilePath
    private var name: String { path.appending(Self.file).string }

    /// Opens a folder.
    /// - Returns: Nil if there is none.
    static func open(_ path: FilePath) throws(SecretError) -> LoginFolder? {
        let descriptor = Glibc.open(path.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw SecretError(message: "\(path): \(Errno(rawValue: errno))") }
        return LoginFolder(descriptor: descriptor, path: path)
    }

    private init(descriptor: Int32, path: FilePath) { (self.descriptor, self.path) = (descriptor, path) }

    deinit { close(descriptor) }

    private func failure() -> SecretError { SecretError(message: "\(name): \(Errno(rawValue: errno))") }

    /// - Throws: If others could have put the file there.
    func check() throws(SecretError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure() }
        guard status.st_uid == geteuid() else {
            throw SecretError(message: "\(path) belongs to another user, so logins are neither saved nor read there")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw SecretError(message: "\(path) can be changed by others: chmod go-w it")
        }
    }

    /// The saved logins; empty if there is no file.
    func table() throws(SecretError) -> LoginTable {
        let found = openat(descriptor, Self.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
        if found < 0, errno == ENOENT { return LoginTable() }
        guard found >= 0 else {
            if errno == ELOOP { throw SecretError(message: "\(name) is a symbolic link: move the file there") }
            throw failure()
        }
        let file = try SecretFile(descriptor: found, called: name)
        defer { file.close() }
        try check()
        return try LoginTable(file.text(), called: name)
    }

    /// Locks it for this process until it is closed.
    func lock(seconds: Double) throws(SecretError) {
        let isLocked: Bool
        do throws(Errno) {
            isLocked = try TimeLimitedFlock.take(descriptor, LOCK_EX, until: .now + .seconds(seconds))
        } catch {
            throw SecretError(message: "\(name): \(error)")
        }
        guard isLocked else {
            throw SecretError(message: "\(path) is locked by another process, maybe another replica login")
        }
    }

    /// Replaces the file, or removes it if the table is empty.
    func write(_ table: LoginTable) throws(SecretError) {
        // Left by a command that was killed.
        unlinkat(descriptor, Self.new, 0)
        if table.entries.isEmpty {
            guard unlinkat(descriptor, Self.file, 0) == 0 || errno == ENOENT else { throw failure() }
        } else {
            let text = try table.text()
            do throws(Errno) { try SecretFile.make(Self.new, in: descriptor, text) } catch {
                throw SecretError(message: "\(name): \(error)")
            }
            guard renameat(descriptor, Self.new, descriptor, Self.file) == 0 else {
                let error = failure()
                unlinkat(descriptor, Self.new, 0)
                throw error
            }
        }
        fsync(descriptor)
    }

    /// Creates a folder and its parents.
    static func make(_ path: FilePath) throws(SecretError) {
        var parents: [FilePath] = []
        var path = path
        while mkdir(path.string, 0o700) != 0, errno != EEXIST {
            parents.append(path)
            guard errno == ENOENT, path.removeLastComponent(), parents.count < 64 else {
                throw SecretError(message: "\(path): \(Errno(rawValue: errno))")
            }
        }
        for path in parents.reversed() where mkdir(path.string, 0o700) != 0 && errno != EEXIST {
            throw SecretError(message: "\(path): \(Errno(rawValue: errno))")
        }
    }
}
