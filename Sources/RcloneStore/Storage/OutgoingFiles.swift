import CLinux
import Glibc
import HTTPStorage
import ReplicaModel
import SystemPackage

/// Files that rclone reads by name, to send them. The store gets contents as open files: those in the daemon's spool
/// have names and are read there; all others are first copied into the store's folder.
struct OutgoingFiles: Sendable {
    /// A file that can be sent.
    struct Parcel: Sendable {
        let folder: String
        let name: String
        /// Whether it is a copy, which is removed after it was sent.
        let isCopy: Bool
        /// Its time, which the sent file gets; nil if it is not known.
        var time: Timestamp?
    }

    private let folder: String
    /// An empty file.
    let nothing: Parcel

    init(state: String) throws(RcloneError) {
        folder = state + "/outbox"
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST, chmod(folder, 0o700) == 0 else {
            throw .failure(.unreachable("\(folder) can't be created: \(Errno(rawValue: errno))"))
        }
        Self.empty(folder)
        nothing = Parcel(folder: folder, name: "nothing", isCopy: false)
        let file = open("\(folder)/\(nothing.name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .failure(.unreachable("\(folder): \(Errno(rawValue: errno))")) }
        close(file)
    }

    /// Prepares a content for sending, with its time. Blocks on the disk.
    /// - Returns: Nil if the contents are shorter than their size.
    func parcel(_ contents: ItemContents, _ time: Timestamp?) throws(RcloneError) -> Parcel? {
        var found = stat()
        let file = contents.file.rawValue
        if contents.size > 0 {
            guard fstat(file, &found) == 0, Int64(found.st_size) >= contents.size else { return nil }
            if var parcel = named(file, found, contents.size), set(time, of: file) {
                parcel.time = Self.time(of: file)
                return parcel
            }
        }
        return try copied(contents, time)
    }

    /// The file by its own name, if the name leads to it and the whole file is the content.
    private func named(_ file: Int32, _ found: stat, _ size: Int64) -> Parcel? {
        guard Int64(found.st_size) == size, found.st_nlink == 1 else { return nil }
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("\(CL_DESCRIPTORS)\(file)", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"),
            path.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { return nil }
        var there = stat()
        guard lstat(path, &there) == 0, there.st_ino == found.st_ino, there.st_dev == found.st_dev else { return nil }
        let folder = path[..<slash]
        return Parcel(
            folder: folder.isEmpty ? "/" : String(folder), name: String(path[path.index(after: slash)...]),
            isCopy: false)
    }

    /// rclone gives the sent file the time of the file that it reads.
    private func set(_ time: Timestamp?, of file: Int32) -> Bool {
        guard let time else { return true }
        let times = [
            timespec(tv_sec: 0, tv_nsec: Int((1 << 30) - 2)),
            timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.subsecond)),
        ]
        return futimens(file, times) == 0
    }

    private func copied(_ contents: ItemContents, _ time: Timestamp?) throws(RcloneError) -> Parcel? {
        var parcel = Parcel(folder: folder, name: "u\(UInt64.random(in: 0 ... .max))", isCopy: true)
        let path = "\(folder)/\(parcel.name)"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .failure(.unreachable("\(path): \(Errno(rawValue: errno))")) }
        var isWhole = false
        defer {
            close(file)
            if !isWhole { unlink(path) }
        }
        var offset: Int64 = 0
        while offset < contents.size {
            let count = try Self.pass(contents.file.rawValue, offset, to: file, contents.size - offset)
            guard count > 0 else { return nil }
            offset += count
        }
        isWhole = true
        _ = set(time, of: file)
        parcel.time = Self.time(of: file)
        return parcel
    }

    private static func time(of file: Int32) -> Timestamp? {
        var found = stat()
        guard fstat(file, &found) == 0 else { return nil }
        return Timestamp(seconds: Int64(found.st_mtim.tv_sec), nanoseconds: Int64(found.st_mtim.tv_nsec))
    }

    /// Removes files left by a run that died.
    private static func empty(_ folder: String) {
        guard let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlinkat(dirfd(entries), name, 0)
        }
    }

    /// Copies a part.
    /// - Returns: The number of bytes; 0 at the end.
    private static func pass(_ from: Int32, _ offset: Int64, to: Int32, _ left: Int64) throws(RcloneError) -> Int64 {
        var buffer = [UInt8](repeating: 0, count: Int(min(left, 1 << 20)))
        let got = pread(from, &buffer, buffer.count, off_t(offset))
        guard got > 0 else { return 0 }
        let outcome = buffer.withUnsafeBytes { bytes in
            Result { () throws(Errno) in
                try UnsafeRawBufferPointer(rebasing: bytes[..<got]).writeAll(to: to, at: offset)
            }
        }
        if case .failure(let error) = outcome {
            throw .failure(.unreachable("no space for the content to be sent: \(error)"))
        }
        return Int64(got)
    }

    /// The sent file is no longer needed.
    func discard(_ parcel: Parcel) {
        if parcel.isCopy { unlink("\(folder)/\(parcel.name)") }
    }

    /// Removes its copies.
    func remove() {
        unlink("\(folder)/\(nothing.name)")
        rmdir(folder)
    }
}
