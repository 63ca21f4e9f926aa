import Glibc

/// Writes a file anew; false when a system call fails.
@discardableResult
func writeFile(_ path: String, _ text: String) -> Bool {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, text, text.utf8.count) == text.utf8.count
}

/// The whole of a file, or nil with errno.
func readFile(_ path: String) -> String? {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var result: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        guard count > 0 else { return String(decoding: result, as: UTF8.self) }
        result += bytes.prefix(count)
    }
}

/// The names in a folder but `.` and `..`, sorted.
func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) { found.append(name(of: entry)) }
    return found.filter { $0 != "." && $0 != ".." }.sorted()
}

func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
}

/// What lstat(2) says, or nil with errno.
func status(_ path: String) -> stat? {
    var result = stat()
    return lstat(path, &result) == 0 ? result : nil
}
