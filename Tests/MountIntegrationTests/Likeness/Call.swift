import CLinux
import Glibc
import ReplicaTestSupport

/// A path in bytes.
struct Name: CustomStringConvertible {
    var bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func with<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let text = bytes.map(CChar.init(bitPattern:)) + [0]
        return body(text)
    }

    var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// A system call that takes names only.
enum NameCall {
    case mkdir(Name, UInt32)
    case rmdir(Name)
    case unlink(Name)
    case rename(Name, Name, flags: UInt32)
    case link(Name, Name)
    case symlink(Name, Name)
    case mknod(Name, UInt32)
    case readlink(Name)
    case status(Name)
    case target(Name)
    case chmod(Name, UInt32)
    case chown(Name, UInt32, UInt32)
    case times(Name, timespec, timespec)
    case access(Name, Int32)
    case list(Name)
    case setXattr(Name, String, [UInt8], flags: Int32)
    case getXattr(Name, String)
    case removeXattr(Name, String)
    case listXattrs(Name)
}

/// A system call; open files are identified by their slot.
enum Call {
    case open(Int, Name, Int32, UInt32)
    case close(Int)
    case write(Int, [UInt8], at: Int?)
    case read(Int, Int, at: Int?)
    case seek(Int, Int, Int32)
    case resize(Int, Int)
    case allocate(Int, Int32, Int, Int)
    case copy(Int, Int, Int)
    case sync(Int)
    case status(Int)
    case names(NameCall)
}

extension SeededGenerator {
    private static let words = ["a", "b", "c", "d", "\u{e9}", "e\u{301}", "name with space", ".hidden"]

    /// One of a few names, so that calls interact; some are long, some not UTF-8, some invalid.
    mutating func name() -> Name {
        switch below(60) {
        case 0: return Name(String(repeating: "n", count: 255))
        case 1: return Name(String(repeating: "n", count: 256))
        case 2: return Name([0xFF, 0xFE, 0x41])
        case 3: return Name(["", ".", "..", "a/.", "b/..", "a/", "c/a/"].randomElement(using: &self)!)
        default: break
        }
        var path: [UInt8] = []
        for depth in 0..<(1 + below(3)) {
            if depth > 0 { path.append(UInt8(ascii: "/")) }
            path += Array(depth == 0 || below(2) == 0 ? pick(Self.words).utf8 : "a".utf8)
        }
        return Name(path)
    }

    mutating func call() -> Call {
        let slot = below(4)
        switch below(24) {
        case 0..<3: return .open(slot, name(), openFlags(), pick([0o644, 0o600, 0o755, 0o444]))
        case 3: return .close(slot)
        case 4..<6:
            return .write(
                slot, bytes(below(3) == 0 ? below(20_000) : below(200)), at: below(2) == 0 ? nil : below(9000))
        case 6..<8: return .read(slot, below(20_000), at: below(2) == 0 ? nil : below(9000))
        case 8: return .seek(slot, below(12_000) - 100, pick([SEEK_SET, SEEK_CUR, SEEK_END]))
        case 9: return .resize(slot, below(20_000) - 10)
        case 10: return .allocate(slot, pick([0, 1, 2, 3, 16]), below(20_000), below(9000))
        case 11: return below(2) == 0 ? .copy(slot, below(4), below(9000)) : .sync(slot)
        case 12: return .status(slot)
        default: return .names(nameCall())
        }
    }

    private mutating func openFlags() -> Int32 {
        var flags = pick([O_RDONLY, O_WRONLY, O_RDWR, O_RDWR])
        for (flag, odds) in [
            (O_CREAT, 2), (O_EXCL, 6), (O_TRUNC, 4), (O_APPEND, 5), (O_NOFOLLOW, 8), (O_DIRECTORY, 16), (O_SYNC, 9),
        ] where below(odds) == 0 {
            flags |= flag
        }
        return flags
    }

    private mutating func nameCall() -> NameCall {
        switch below(24) {
        case 0..<4: .mkdir(name(), pick([0o755, 0o700, 0o2775]))
        case 4: .rmdir(name())
        case 5: .unlink(name())
        case 6..<9: .rename(name(), name(), flags: pick([0, 0, 0, 1, 2, 4]))
        case 9..<11: .link(name(), name())
        case 11: .symlink(name(), name())
        case 12: .mknod(name(), pick([S_IFREG | 0o640, S_IFIFO | 0o600, S_IFSOCK | 0o600]))
        case 13: .readlink(name())
        case 14: .status(name())
        case 15: .target(name())
        // No set-ID bits, which root's own write clears here if they were set while the file was open (docs/BUGS.md).
        case 16: .chmod(name(), pick([0o644, 0o600, 0o755, 0o711, 0o1777, 0]))
        case 17: .chown(name(), pick([0, 1, 4_000_000_000, .max]), pick([0, 7, .max]))
        case 18: .times(name(), time(), time())
        case 19: .access(name(), pick([R_OK, W_OK, X_OK, F_OK]))
        case 20: .list(name())
        case 21: .setXattr(name(), xattrName(), bytes(below(300)), flags: pick([0, 0, 1, 2]))
        case 22: below(2) == 0 ? .getXattr(name(), xattrName()) : .listXattrs(name())
        default: .removeXattr(name(), xattrName())
        }
    }

    private mutating func xattrName() -> String {
        pick(["user.one", "user.two", "trusted.three", "nonsense", "user." + String(repeating: "x", count: 260)])
    }

    /// In the first weeks of 1970, which no other time is in, so that it can be compared.
    private mutating func time() -> timespec {
        timespec(tv_sec: 1_000 + below(1_000_000), tv_nsec: pick([0, 1, 999_999_999, 123_456_789]))
    }
}
