internal import FuseMount
internal import Glibc
internal import ReplicaModel

/// As much of a folder's listing as one answer holds.
struct FolderPage {
    struct Line {
        var name: FileName
        var number: ItemNumber
        /// Only the type; 0 where the listing doesn't say.
        var mode: UInt32
        /// `.` or `..`.
        var isDots = false

        /// What readdirplus says of `.` and `..`: nothing that counts as a lookup.
        var dotsEntry: FuseMount.Entry {
            FuseMount.Entry(node: 0, attributes: Attributes(ino: number.rawValue, mode: mode))
        }
    }

    private(set) var lines: [Line] = []
    /// How many of ``lines`` are `.` and `..`.
    private(set) var dots = 0
    /// What the replica says of the others, in their order.
    var entries: [ReplicaModel.Entry?] = []

    /// The names but `.` and `..`.
    var names: [FileName] { lines.dropFirst(dots).map(\.name) }

    /// - Parameters:
    ///   - size: The room of the answer in bytes.
    ///   - headerSize: What an entry takes beside its name, which is padded to 8 bytes.
    init(
        _ listing: OpenedFolder.Listing, _ folder: ItemNumber, from offset: Int64, size: Int, headerSize: Int
    ) {
        var room = size
        var place = Int(clamping: offset)
        while place < listing.entries.count + 2 {
            let line = Self.line(place, listing, folder)
            let needed = (headerSize + line.name.bytes.count + 7) / 8 * 8
            guard needed <= room else { return }
            room -= needed
            lines.append(line)
            if line.isDots { dots += 1 }
            place += 1
        }
    }

    private static func line(_ place: Int, _ listing: OpenedFolder.Listing, _ folder: ItemNumber) -> Line {
        switch place {
        case 0: return Line(name: FileName("."), number: folder, mode: S_IFDIR, isDots: true)
        case 1: return Line(name: FileName(".."), number: listing.parent, mode: S_IFDIR, isDots: true)
        default:
            let entry = listing.entries[place - 2]
            return Line(name: entry.name, number: entry.number, mode: entry.type.map(mode) ?? 0)
        }
    }

    private static func mode(_ kind: ItemKind) -> UInt32 {
        switch kind {
        case .file: S_IFREG
        case .folder: S_IFDIR
        case .symlink: S_IFLNK
        }
    }
}
