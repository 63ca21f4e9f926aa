import CLinux
import Glibc

/// System calls as a test wants them: 0 or the errno.
func errnoOf(_ result: Int) -> Int32 { result < 0 ? errno : 0 }
func errnoOf(_ result: Int32) -> Int32 { result < 0 ? errno : 0 }

func status(_ path: String) -> Glibc.stat? {
    var status = Glibc.stat()
    return lstat(path, &status) == 0 ? status : nil
}

func statError(_ path: String) -> Int32 {
    var status = Glibc.stat()
    return errnoOf(lstat(path, &status))
}

/// The whole of a file, or nil.
func contents(_ path: String) -> String? {
    let file = Glibc.open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return contents(file)
}

func contents(_ file: Int32) -> String? {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let got = pread(file, &piece, piece.count, off_t(all.count))
        if got < 0 { return nil }
        if got == 0 { return String(decoding: all, as: UTF8.self) }
        all += piece[0..<got]
    }
}

@discardableResult
func write(_ text: String, to path: String, flags: Int32 = O_WRONLY | O_CREAT | O_TRUNC) -> Bool {
    let file = Glibc.open(path, flags, 0o644)
    guard file >= 0 else { return false }
    defer { close(file) }
    return Glibc.write(file, text, text.utf8.count) == text.utf8.count
}

/// The names in a folder but `.` and `..`, sorted.
func names(_ path: String) -> [String]? {
    guard let folder = Glibc.opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = Glibc.readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) {
            String(cString: $0.assumingMemoryBound(to: CChar.self).baseAddress!)
        }
        if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// flock(2), whose name a struct has too.
func lockWhole(_ file: Int32, _ operation: Int32) -> Int32 { flock(file, operation) }
