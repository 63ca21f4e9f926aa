import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// ``PlaceKeys`` with a file that keeps the exceptions across restarts: one line per change; a process rewrites it at
/// its first change. Truncated and invalid lines are ignored.
final class PlaceMemory: Sendable {
    private struct State {
        var keys = PlaceKeys()
        var log: OpenDescriptor?
        /// A change could not be written to the file: the disk was full.
        var isBehind = false
    }

    private let path: FilePath?
    private let state: Locked<State>

    /// - Parameter path: The file, created when needed; nil to keep the exceptions in memory only.
    /// - Throws: If the file cannot be read.
    init(at path: FilePath?) throws(Errno) {
        self.path = path
        var state = State()
        if let path {
            for line in try Self.lines(of: path) {
                guard let (place, key) = Self.entry(line) else { continue }
                state.keys.set(key, at: place)
            }
        }
        self.state = Locked(state)
    }

    /// The key of the item at a place.
    func key(at place: EntryPlace, _ kind: ItemKind) -> ItemKey {
        state.withLock { state in
            let key = state.keys.key(at: place, kind)
            let isUsual = key == ItemKey(place, kind, number: 0)
            // The item keeps this key after the other one is gone.
            if !isUsual, state.keys.exceptions[place] != key { set(key, at: place, &state) }
            return key
        }
    }

    /// Records the new place of an item.
    func move(_ key: ItemKey, to place: EntryPlace) { state.withLock { set(key, at: place, &$0) } }

    /// Records that items are gone.
    func forget(_ keys: [ItemKey]) {
        state.withLock { state in
            for place in state.keys.places(of: keys) { set(nil, at: place, &state) }
        }
    }

    /// Syncs to disk.
    func sync() throws(Errno) {
        let log = try state.withLock { (state) throws(Errno) in
            if state.isBehind { try rewrite(&state) }
            return state.log
        }
        if let log { try SystemCalls.check { fsync(log.raw) } }
    }

    private func set(_ key: ItemKey?, at place: EntryPlace, _ state: inout State) {
        state.keys.set(key, at: place)
        guard path != nil, !state.isBehind else { return }
        do throws(Errno) {
            guard let log = state.log else { return try rewrite(&state) }
            try Self.write(Self.line(place, key), to: log)
        } catch {
            state.isBehind = true  // ``sync()`` reports it, so nothing counts as durable.
        }
    }

    /// Writes a new file and renames it over the old one.
    private func rewrite(_ state: inout State) throws(Errno) {
        guard let path else { return }
        let fresh = path.string + ".new"
        unlink(fresh)
        let log = OpenDescriptor(
            try SystemCalls.check {
                open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
            })
        try Self.write(state.keys.exceptions.flatMap { Self.line($0.key, $0.value) }, to: log)
        try SystemCalls.check { fsync(log.raw) }
        try SystemCalls.check { rename(fresh, path.string) }
        // Otherwise a power cut could restore the old file, even after ``sync()``.
        let folder = try SystemCalls.open(path: path.removingLastComponent().string, O_RDONLY | O_DIRECTORY)
        try SystemCalls.check { fsync(folder.raw) }
        (state.log, state.isBehind) = (log, false)
    }

    private static func write(_ bytes: [UInt8], to file: OpenDescriptor) throws(Errno) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try SystemCalls.check { Glibc.write(file.raw, rest, rest.count) }
            rest.removeFirst(count)
        }
    }

    private static func lines(of path: FilePath) throws(Errno) -> [Substring] {
        let file: OpenDescriptor
        do throws(Errno) {
            file = try SystemCalls.open(path: path.string, O_RDONLY | O_NOFOLLOW)
        } catch {
            if error == .noSuchFileOrDirectory { return [] }
            throw error
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try SystemCalls.check { Glibc.read(file.raw, &buffer, buffer.count) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    /// `FOLDER NAME KEY`, with the name in hexadecimal digits, and `-` for a removed key; a final full stop
    /// distinguishes a complete line from a truncated one.
    private static func line(_ place: EntryPlace, _ key: ItemKey?) -> [UInt8] {
        let name = place.name.bytes.map { hex(UInt64($0) | 0x100).dropFirst() }.joined()
        return Array("\(place.parent.identifier.rawValue) \(name) \(key?.identifier.rawValue ?? "-") .\n".utf8)
    }

    private static func entry(_ line: Substring) -> (EntryPlace, ItemKey?)? {
        let parts = line.split(separator: " ")
        guard parts.count == 4, parts[3] == ".", let parent = ItemKey(ItemIdentifier(String(parts[0]))),
            let name = name(parts[1]), name.isValid
        else { return nil }
        let place = EntryPlace(parent: parent, name: name)
        if parts[2] == "-" { return (place, nil) }
        guard let key = ItemKey(ItemIdentifier(String(parts[2]))), key != .root else { return nil }
        return (place, key)
    }

    private static func name(_ text: Substring) -> FileName? {
        let digits = text.utf8.map { UInt8(String(UnicodeScalar($0)), radix: 16) }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        return FileName(bytes: stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] })
    }
}

extension DirectoryTree {
    /// The status of the entry at a place.
    func status(at place: EntryPlace, in folder: OpenDescriptor) throws(Errno) -> FileStatus {
        shown(known(try SystemCalls.status(of: place.name, in: folder), at: place), at: place)
    }

    /// The status of an open file at this place.
    func status(of file: OpenDescriptor, at place: EntryPlace) throws(Errno) -> FileStatus {
        shown(known(try SystemCalls.status(of: file), at: place), at: place)
    }

    private func shown(_ status: FileStatus, at place: EntryPlace) -> FileStatus {
        guard status.kind == .folder else { return status }
        var status = status
        status.mode = readOnlyFolders.mode(of: ItemKey(status, at: place), now: status.mode)
        return status
    }

    /// The version of a file that is not at its item's place.
    func contentVersion(of status: FileStatus) -> String {
        var status = status
        if memory != nil { status.placeKey = .root }
        return status.contentVersion
    }

    /// A status with its item's key.
    func known(_ status: FileStatus, at place: EntryPlace) -> FileStatus {
        guard let memory, let kind = status.kind else { return status }
        var status = status
        status.placeKey = memory.key(at: place, kind)
        return status
    }
}
