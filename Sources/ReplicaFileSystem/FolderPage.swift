internal import FuseMount
internal import Glibc
internal import ReplicaModel

/// A snapshot of a folder's entries, ordered by offset.
struct Listing: Sendable {
    let parent: ItemNumber
    let entries: [FolderEntry]

    init(parent: ItemNumber, entries: [FolderEntry]) {
        self.parent = parent
        self.entries = entries.sorted { $0.offset < $1.offset }
    }

    /// The index of the first entry after `offset`.
    func index(after offset: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// As much of a folder's listing as fits into one answer.
struct FolderPage {
    struct Line {
        var name: FileName
        var number: ItemNumber
        /// Only the type; 0 if the listing does not contain it.
        var mode: UInt32
        /// The offset at which reading continues after it.
        var offset: Int64
        /// `.` or `..`.
        var isDots = false

        /// The readdirplus entry for `.` and `..`, which does not count as a lookup.
        var dotsEntry: FuseMount.Entry {
            FuseMount.Entry(node: 0, attributes: Attributes(ino: number.rawValue, mode: mode))
        }
    }

    private(set) var lines: [Line] = []
    /// How many of ``lines`` are `.` and `..`.
    private(set) var dots = 0
    /// The replica's entries for the others, in order.
    var entries: [KernelEntry?] = []
    private var room: Int
    private let headerSize: Int

    /// The names except `.` and `..`.
    var names: [FileName] { lines.dropFirst(dots).map(\.name) }

    /// - Parameters:
    ///   - size: The maximum size of the answer in bytes.
    ///   - headerSize: The size of an entry without its name, which is padded to 8 bytes.
    init(_ listing: Listing, _ folder: ItemNumber, from offset: Int64, size: Int, headerSize: Int) {
        room = size
        self.headerSize = headerSize
        let above = [(".", folder), ("..", listing.parent)]
        for (index, (name, number)) in above.enumerated() where offset <= index {
            let line = Line(
                name: FileName(name), number: number, mode: S_IFDIR, offset: Int64(index) + 1, isDots: true)
            guard add(line) else { return }
            dots += 1
        }
        for entry in listing.entries[listing.index(after: offset)...] {
            let mode = entry.type.map(Self.mode) ?? 0
            guard add(Line(name: entry.name, number: entry.number, mode: mode, offset: entry.offset)) else { return }
        }
    }

    private mutating func add(_ line: Line) -> Bool {
        let needed = (headerSize + line.name.bytes.count + 7) / 8 * 8
        guard needed <= room else { return false }
        room -= needed
        lines.append(line)
        return true
    }

    private static func mode(_ kind: ItemKind) -> UInt32 {
        switch kind {
        case .file: S_IFREG
        case .folder: S_IFDIR
        case .symlink: S_IFLNK
        }
    }
}
