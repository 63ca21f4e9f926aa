internal import Foundation
internal import Glibc

/// The contents of a folder, by relative path.
package struct FileTree: Equatable {
    package enum Entry: Equatable {
        case file([UInt8])
        case folder
        case symlink(String)
    }
    package var entries: [String: Entry] = [:]

    /// The contents of its files.
    package var files: [String: [UInt8]] {
        entries.compactMapValues { if case .file(let content) = $0 { content } else { nil } }
    }

    package subscript(path: String) -> Entry? {
        get { entries[path] }
        set { entries[path] = newValue }
    }

    /// The paths of everything below a folder, the deepest first.
    package func below(_ folder: String) -> [String] {
        entries.keys.filter { $0.hasPrefix(folder + "/") }.sorted { $0.utf8.count > $1.utf8.count }
    }

    /// Moves a folder or file with everything below it to another path, replacing any entry there.
    package mutating func move(_ old: String, to new: String) {
        for path in below(new) { entries[path] = nil }
        for path in below(old) { entries[new + path.dropFirst(old.count)] = entries.removeValue(forKey: path) }
        entries[new] = entries.removeValue(forKey: old)
    }

    /// Reads a folder on disk.
    package init(readingFolder path: String) throws(Failure) { try read(path, as: "") }

    package init() {}

    /// Creates files with these contents below `root`, and their folders.
    package static func make(_ root: String, _ files: [String: String]) throws {
        for (path, text) in files {
            let file = URL(filePath: root + "/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }

    /// A system call that failed.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(_ what: String) { description = "\(what): \(String(cString: strerror(errno)))" }
    }

    private mutating func read(_ path: String, as prefix: String) throws(Failure) {
        guard let folder = opendir(path) else { throw Failure("opendir \(path)") }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name == "." || name == ".." { continue }
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0 else { throw Failure("lstat \(path)/\(name)") }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                entries[prefix + name] = .folder
                try read("\(path)/\(name)", as: prefix + name + "/")
            case S_IFLNK: entries[prefix + name] = .symlink(try Self.target("\(path)/\(name)"))
            default: entries[prefix + name] = .file(try Self.content("\(path)/\(name)"))
            }
        }
    }

    private static func target(_ path: String) throws(Failure) -> String {
        var text = [CChar](repeating: 0, count: 4096)
        let length = readlink(path, &text, text.count)
        guard length >= 0 else { throw Failure("readlink \(path)") }
        return String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func content(_ path: String) throws(Failure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure("open \(path)") }
        defer { close(file) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count >= 0 else { throw Failure("read \(path)") }
            if count == 0 { return content }
            content += buffer.prefix(count)
        }
    }

    /// The differences, one per line.
    package func differences(from expected: FileTree) -> [String] {
        Set(entries.keys).union(expected.entries.keys).sorted().compactMap { path in
            switch (entries[path], expected.entries[path]) {
            case (let found?, nil): "\(path): unexpected \(Self.words(found))"
            case (nil, let wanted?): "\(path): missing, should be \(Self.words(wanted))"
            case (let found?, let wanted?) where found != wanted:
                "\(path): \(Self.words(found)), should be \(Self.words(wanted))"
            default: nil
            }
        }
    }

    private static func words(_ entry: Entry) -> String {
        guard case .file(let bytes) = entry else { return "\(entry)" }
        let hash = bytes.reduce(into: UInt32(5381)) { $0 = $0 &* 33 &+ UInt32($1) }
        return "a file of \(bytes.count) bytes, hash \(hash)"
    }
}
