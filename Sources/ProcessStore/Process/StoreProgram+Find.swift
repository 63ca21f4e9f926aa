import CLinux
import ChildProcess
import Glibc
package import SystemPackage

/// Why a program that was found can't be run.
package struct UntrustedProgram: Error, Hashable, Sendable, CustomStringConvertible {
    /// The program, or the folder above it that is the cause.
    package let path: FilePath
    /// A short description of the problem.
    package let reason: String

    package var description: String { "\(path) \(reason)" }
}

extension StoreProgram {
    /// The first program that exists.
    /// - Parameters:
    ///   - places: The paths to search, absolute.
    ///   - isRoot: Whether only programs that root alone can change are run. The program is then opened, so that the
    ///     checked file is the one that runs.
    /// - Returns: Nil if there is none.
    /// - Throws: ``UntrustedProgram`` if the first one found can't be run: the search does not continue.
    package static func find(
        in places: [FilePath], isRoot: Bool
    ) throws(UntrustedProgram) -> StoreProgram? {
        for path in places {
            guard isRoot else {
                if access(path.string, F_OK) != 0 { continue }
                var status = stat()
                guard stat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
                guard access(path.string, X_OK) == 0 else {
                    throw UntrustedProgram(path: path, reason: "is not executable")
                }
                return StoreProgram(path: path)
            }
            if let file = try opened(path, owner: 0) { return StoreProgram(path: path, file: file) }
        }
        return nil
    }

    /// Opens a program to run it, without following links, if only its owner can change it and the folders above it.
    /// - Parameter owner: A user who may own it, besides root.
    /// - Returns: Nil if it does not exist.
    static func opened(_ path: FilePath, owner: uid_t) throws(UntrustedProgram) -> OwnedDescriptor? {
        var here: FilePath = "/"
        guard var folder = try open(AT_FDCWD, "/", isLast: false, here) else { return nil }
        try check(folder, here, owner)
        let names = path.components.map(\.string)
        for (index, name) in names.enumerated() {
            here.append(name)
            guard let next = try open(folder.raw, name, isLast: index == names.count - 1, here) else { return nil }
            try check(next, here, owner)
            folder = next
        }
        var status = stat()
        guard fstat(folder.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw UntrustedProgram(path: path, reason: "is not a file")
        }
        guard status.st_mode & 0o111 != 0 else { throw UntrustedProgram(path: path, reason: "is not executable") }
        return folder
    }

    private static func open(
        _ folder: Int32, _ name: String, isLast: Bool, _ path: FilePath
    ) throws(UntrustedProgram) -> OwnedDescriptor? {
        let flags = CL_O_PATH | O_NOFOLLOW | O_CLOEXEC | (isLast ? 0 : O_DIRECTORY)
        let raw = openat(folder, name, Int32(flags))
        if raw >= 0 { return OwnedDescriptor(raw) }
        if errno == ENOENT { return nil }
        let reason =
            errno == ENOTDIR ? "is a symbolic link or not a directory" : "can't be opened: \(Errno(rawValue: errno))"
        throw UntrustedProgram(path: path, reason: reason)
    }

    private static func check(_ file: OwnedDescriptor, _ path: FilePath, _ owner: uid_t) throws(UntrustedProgram) {
        var status = stat()
        guard fstat(file.raw, &status) == 0 else {
            throw UntrustedProgram(path: path, reason: "can't be examined: \(Errno(rawValue: errno))")
        }
        if status.st_mode & S_IFMT == S_IFLNK { throw UntrustedProgram(path: path, reason: "is a link") }
        guard status.st_uid == 0 || status.st_uid == owner else {
            throw UntrustedProgram(path: path, reason: "is not owned by root")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw UntrustedProgram(path: path, reason: "is writable by others")
        }
    }
}
