import Glibc
package import SystemPackage

/// The reason why secrets can't be read or saved, in one line.
package struct SecretError: Error, Equatable {
    package let message: String
}

/// A file with secrets, which only its owner may read.
package struct SecretFile {
    private let file: FileDescriptor
    private let name: String

    /// The maximum size of a file, in bytes.
    static let longest = 64 << 10

    /// Opens and checks it.
    /// - Parameter name: Its name in messages.
    /// - Throws: If it is missing, is not a regular file, belongs neither to this user nor to root, or can be read or written by
    ///   anybody but its owner.
    package init(_ path: FilePath, called name: String) throws(SecretError) {
        // NONBLOCK: a fifo must not block the mount. The checks are made on the open file, so they can't be bypassed by a
        // link that is changed in between.
        let file = open(path.string, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw SecretError(message: "\(name): \(Errno(rawValue: errno))") }
        try self.init(descriptor: file, called: name)
    }

    /// Creates a file that must not exist, and syncs it. If it can't be written completely, it is removed.
    /// - Parameter folder: The descriptor of the folder that a relative path starts from.
    package static func make(_ path: UnsafePointer<CChar>, in folder: Int32 = AT_FDCWD, _ text: String) throws(Errno) {
        let file = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Errno(rawValue: errno) }
        defer { Glibc.close(file) }
        do {
            try FileDescriptor(rawValue: file).writeAll(text.utf8)
            guard fsync(file) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlinkat(folder, path, 0)
            throw error as? Errno ?? .ioError
        }
    }

    /// Checks an open file, and takes ownership of the descriptor.
    init(descriptor: Int32, called name: String) throws(SecretError) {
        (file, self.name) = (FileDescriptor(rawValue: descriptor), name)
        do throws(SecretError) { try check() } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Closes it.
    package func close() {
        Glibc.close(file.rawValue)
    }

    /// Its text.
    package func text() throws(SecretError) -> String {
        var bytes: [UInt8] = []
        do {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.longest + 1, alignment: 1)
            defer { buffer.deallocate() }
            while bytes.count <= Self.longest {
                let count = try file.read(into: buffer)
                if count == 0 { break }
                bytes += buffer[..<count]
            }
        } catch {
            throw SecretError(message: "\(name): \(error)")
        }
        guard bytes.count <= Self.longest, let text = String(validating: bytes, as: UTF8.self) else {
            throw SecretError(message: "\(name): not text of at most \(Self.longest) bytes")
        }
        return text
    }

    private func check() throws(SecretError) {
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else {
            throw SecretError(message: "\(name): \(Errno(rawValue: errno))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SecretError(message: "\(name): not a file") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw SecretError(message: "\(name) belongs to another user")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw SecretError(message: "\(name) can be read by others: chmod 600 it")
        }
    }
}
