import Glibc
import ReplicaTestSupport
import SystemPackage
import Threads

@testable import ReplicaModel

/// What was written, and what its writer, or somebody who saw it, removed or replaced.
final class ExpectedContents: Sendable {
    private let state = Locked<(contents: [String: String], serial: Int, words: [String])>(
        ([:], 0, []), rank: .innermost)

    /// Contents that have to be there in the end, with what was done last with them.
    var contents: [String: String] { state.withLock { $0.contents } }
    /// All that was done, line by line.
    var words: [String] { state.withLock { $0.words } }

    /// A content that no other file has.
    func fresh(_ machine: Int) -> String {
        state.withLock { state in
            state.serial += 1
            return "machine \(machine) wrote \(state.serial)" + String(repeating: ".", count: state.serial % 7)
        }
    }

    func expect(_ content: String, _ place: String) { state.withLock { $0.contents[content] = place } }

    func release(_ content: String?) {
        if let content { state.withLock { $0.contents[content] = nil } }
    }

    func say(_ words: String) { state.withLock { $0.words.append(words) } }
}

extension Machine {
    private static let caller = Caller(user: geteuid(), group: getegid())
    private static let names = ["a", "b", "c", "d"].map { FileName($0) }

    private func pick<Element>(_ elements: [Element]) -> Element? {
        random.withLock { elements.randomElement(using: &$0) }
    }

    func chance(_ percent: Int) -> Bool { random.withLock { Int.random(in: 0..<100, using: &$0) < percent } }

    /// Does one thing, as a program does; what can't be done is left.
    func work(_ expected: ExpectedContents) async throws {
        let operation = random.withLock { Int.random(in: 0..<100, using: &$0) }
        do {
            switch operation {
            case 0..<30: try create(expected)
            case 30..<48: try await edit(expected)
            case 48..<56: try await save(expected)
            case 56..<70: try move(expected)
            case 70..<76: try exchange(expected)
            case 76..<86: try makeFolder(expected)
            case 86..<94: try await remove(expected)
            default: try describe()
            }
        } catch is ReplicaError {
            // It is not there any more, or its name is taken.
        }
    }

    /// What a person may take up: not what another machine has under an interim name for a moment (docs/BUGS.md).
    private func items() throws -> [Seen] {
        try seen().filter { !$0.name.description.hasPrefix(".replica-moving-") }
    }

    private func folders() throws -> [Seen] {
        let root = Seen(parent: .root, name: FileName(""), number: .root, kind: .folder, path: "")
        return try [root] + seen().filter { $0.kind == .folder && $0.path.count { $0 == "/" } < 3 }
    }

    private func files() throws -> [Seen] { try seen().filter { $0.kind == .file } }

    private func write(_ content: String, to number: ItemNumber, _ file: Int32) throws {
        let bytes = Array(content.utf8)
        let count = Glibc.write(file, bytes, bytes.count)
        close(file)
        guard count == bytes.count else { throw BrokenPromise("the disk is full") }
        try run().replica.closed(number, isWriter: true)
    }

    private func say(_ expected: ExpectedContents, _ words: String) { expected.say("machine \(number): \(words)") }

    private func create(_ expected: ExpectedContents) throws {
        guard let folder = pick(try folders()), let name = pick(Self.names) else { return }
        try create(name, in: folder, expected)
    }

    @discardableResult
    private func create(_ name: FileName, in folder: Seen, _ expected: ExpectedContents) throws -> (ItemNumber, String)
    {
        let replica = try run().replica
        let (entry, file) = try replica.createFile(
            name, in: folder.number, mode: 0o644, flags: O_WRONLY | O_EXCL, caller: Self.caller)
        let content = expected.fresh(number)
        try write(content, to: entry.number, file.descriptor)
        replica.forget(entry.number, count: 1)
        expected.expect(content, "\(folder.path)/\(name) of machine \(number)")
        say(expected, "create \(folder.path)/\(name): \(content)")
        // As programs do that unpack or copy: by this machine's clock.
        var change = AttributeChange()
        change.modified = .to(Timestamp(secondsSince1970: now))
        _ = try replica.setAttributes(change, of: entry.number)
        return (entry.number, content)
    }

    /// A file at the root.
    /// - Returns: What is in it.
    func makeFile(_ name: String) throws -> String {
        let root = Seen(parent: .root, name: FileName(""), number: .root, kind: .folder, path: "")
        return try create(FileName(name), in: root, ExpectedContents()).1
    }

    private func edit(_ expected: ExpectedContents) async throws {
        guard let file = pick(try files()), let old = try await content(of: file) else { return }
        let open = try run().replica.open(file.number, flags: O_WRONLY | O_TRUNC)
        expected.release(old)
        let content = expected.fresh(number)
        try write(content, to: file.number, open.descriptor)
        expected.expect(content, "\(file.path) of machine \(number)")
        say(expected, "edit \(file.path): \(content) over \(old)")
    }

    /// Writes beside and renames over, as editors do.
    private func save(_ expected: ExpectedContents) async throws {
        guard let file = pick(try files()), let old = try await content(of: file) else { return }
        let folder = Seen(parent: .root, name: FileName(""), number: file.parent, kind: .folder, path: "")
        let name = FileName("save~\(number)")
        let (_, content) = try create(name, in: folder, expected)
        try run().replica.rename(name, in: file.parent, to: file.name, in: file.parent, flags: [])
        expected.release(old)
        say(expected, "save \(file.path): \(content) over \(old)")
    }

    private func move(_ expected: ExpectedContents) throws {
        guard let item = pick(try items()), let folder = pick(try folders()), let name = pick(Self.names) else {
            return
        }
        try run().replica.rename(item.name, in: item.parent, to: name, in: folder.number, flags: .noReplace)
        say(expected, "move \(item.path) to \(folder.path)/\(name)")
    }

    private func exchange(_ expected: ExpectedContents) throws {
        guard let left = pick(try items()), let right = pick(try items()) else { return }
        try run().replica.rename(left.name, in: left.parent, to: right.name, in: right.parent, flags: .exchange)
        say(expected, "exchange \(left.path) and \(right.path)")
    }

    private func makeFolder(_ expected: ExpectedContents) throws {
        guard let folder = pick(try folders()), let name = pick(Self.names) else { return }
        let replica = try run().replica
        let made = try replica.makeFolder(name, in: folder.number, mode: 0o755, caller: Self.caller)
        replica.forget(made.number, count: 1)
        say(expected, "make \(folder.path)/\(name)/")
    }

    /// A file, or a folder with all that is in it.
    private func remove(_ expected: ExpectedContents) async throws {
        guard let item = pick(try items()) else { return }
        let below = try seen().filter { $0.path.hasPrefix(item.path + "/") }
        for entry in below.reversed() + [item] {
            if entry.kind == .folder {
                try run().replica.remove(entry.name, in: entry.parent, isFolder: true)
            } else {
                guard let old = try await content(of: entry) else { return }
                try run().replica.remove(entry.name, in: entry.parent, isFolder: false)
                expected.release(old)
                say(expected, "remove \(entry.path): \(old)")
            }
        }
        if item.kind == .folder { say(expected, "remove \(item.path)/") }
    }

    private func describe() throws {
        guard let item = pick(try seen()) else { return }
        var change = AttributeChange()
        if chance(50) {
            change.modified = .to(Timestamp(secondsSince1970: now))
        } else {
            change.mode = item.kind == .folder ? 0o700 : 0o600
        }
        _ = try run().replica.setAttributes(change, of: item.number)
    }
}
