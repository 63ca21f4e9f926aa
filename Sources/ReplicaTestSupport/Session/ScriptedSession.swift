package import ReplicaModel

/// A user's actions in a store, step by step, each checked from both sides: nothing is lost, and nothing is duplicated.
package struct ScriptedSession: Sendable {
    /// Independent parts.
    package enum Act: String, Sendable, CaseIterable {
        case files, folders, large
    }

    /// Other clients' view of the storage.
    package struct Outside: Sendable {
        /// The contents of all files by their paths; symlinks with their targets.
        var files: @Sendable () async throws -> [String: [UInt8]]

        package init(files: @escaping @Sendable () async throws -> [String: [UInt8]]) { self.files = files }
    }

    private let store: RetryingStore
    private let outside: Outside
    private let step: @Sendable (String?) -> Void
    /// The size from which the storage receives a file in parts, in bytes.
    private let size: Int
    /// Whether the storage keeps symlinks and modes.
    private let (keepsLinks, keepsModes): (Bool, Bool)

    /// - Parameters:
    ///   - large: The size of a file that the storage sends in parts.
    ///   - step: Called before each step, and with nil before the result is checked.
    package init(
        _ store: any RemoteStore, _ outside: Outside, large size: Int, step: @escaping @Sendable (String?) -> Void
    ) {
        (self.store, self.outside, self.size, self.step) = (RetryingStore(store), outside, size, step)
        (keepsLinks, keepsModes) = (store.properties.keepsSymlinks, store.properties.fields.contains(.mode))
    }

    package func play(_ act: Act) async throws {
        switch act {
        case .files: try await playFiles()
        case .folders: try await playFolders()
        case .large: try await playLarge()
        }
    }

    // MARK: The parts

    private func playFiles() async throws {
        var file = try await does("create") { try await store.create("small", .file, in: .root, bytes("text")) }
        try await sees(["small": bytes("text")])
        file = try await does("append") { try await store.modify(file, .contents, bytes("text two")) }
        try await sees(["small": bytes("text two")])
        // Of the same size: only the version shows the change.
        file = try await does("replace") { try await store.modify(file, .contents, bytes("TEXT TWO")) }
        try await sees(["small": bytes("TEXT TWO")])
        file = try await does("rename") { try await store.modify(file, .filename) { $0.filename = FileName("moved") } }
        try await sees(["moved": bytes("TEXT TWO")])
        file = try await does("rename and write") {
            try await store.modify(file, [.filename, .contents], bytes("three")) { $0.filename = FileName("again") }
        }
        try await sees(["again": bytes("three")])
        if keepsModes {
            file = try await does("set the mode") { try await store.modify(file, .mode) { $0.metadata.mode = 0o600 } }
            try await expect(file.metadata.mode, 0o600)
        }
        let whole = try await does("read") { try await store.read(file) }
        try await expect(whole, bytes("three"))
        let part = try await does("read a range") { try await store.read(file, 1..<4) }
        try await expect(Array(part.suffix(3)), bytes("hre"))
        let link = try await makesLink(to: "target", in: .root)
        try await sees(["again": bytes("three"), "link": bytes("target")])
        let (kept, listed) = (file, try await does("list") { try await store.list(.root) })
        try await expect(listed.map(\.filename.description).sorted(), keepsLinks ? ["again", "link"] : ["again"])
        try await expect(Set(listed.map(\.identifier)), Set([kept, link].compactMap(\.?.identifier)))
        try await expect(listed.first { $0.kind == .symlink }?.target, link?.target)
        try await does("delete") { try await store.delete(kept) }
        try await sees(["link": bytes("target")])
        if let link { try await does("delete a link") { try await store.delete(link) } }
        try await sees([:])
    }

    private func playFolders() async throws {
        let folder = try await does("make a folder") { try await store.create("folder", .folder, in: .root, nil) }
        let inner = try await does("make another in it") {
            try await store.create("inner", .folder, in: folder.identifier, nil)
        }
        let a = try await does("create") { try await store.create("a", .file, in: folder.identifier, bytes("a")) }
        let b = try await does("create below") {
            try await store.create("b", .file, in: inner.identifier, bytes("bb"))
        }
        let link = try await makesLink(to: "a", in: folder.identifier)
        try await sees(["folder/a": bytes("a"), "folder/inner/b": bytes("bb"), "folder/link": bytes("a")])
        let moved = try await does("move the folder") {
            try await store.modify(folder, .filename) { $0.filename = FileName("there") }
        }
        try await expect(moved.identifier, folder.identifier)
        try await sees(["there/a": bytes("a"), "there/inner/b": bytes("bb"), "there/link": bytes("a")])
        let listed = try await does("list") { try await store.list(folder.identifier) }
        try await expect(Set(listed.map(\.identifier)), Set([inner, a, link].compactMap(\.?.identifier)))
        let roots = try await does("list the root") { try await store.list(.root) }
        try await expect(roots.map(\.identifier), [folder.identifier])
        let c = try await does("move into it") {
            let c = try await store.create("c", .file, in: .root, bytes("c"))
            return try await store.modify(c, .parent) { $0.parent = folder.identifier }
        }
        try await sees([
            "there/a": bytes("a"), "there/c": bytes("c"), "there/inner/b": bytes("bb"), "there/link": bytes("a"),
        ])
        // A file that was moved with its folder has another version if the storage copies.
        for item in [a, b, c, link].compactMap({ $0 }) {
            let now = try await store.again("look at \(item.filename)") { try await store.store.item(item.identifier) }
            try await does("delete \(item.filename)") { try await store.delete(now) }
        }
        try await sees([:])
        let left = try await does("list what is left") { try await store.list(folder.identifier) }
        try await expect(left.map(\.identifier), [inner.identifier])
        try await does("remove a folder") { try await store.delete(inner) }
        try await does("remove the other") { try await store.delete(moved) }
        let none = try await does("list nothing") { try await store.list(.root) }
        try await expect(none.count, 0)
    }

    private func playLarge() async throws {
        let (first, second) = (pattern(7), pattern(11))
        var file = try await does("create") { try await store.create("large", .file, in: .root, first) }
        try await sees(["large": first])
        file = try await does("replace") { try await store.modify(file, .contents, second) }
        try await sees(["large": second])
        let whole = try await does("read") { [file] in try await store.read(file) }
        try await expect(whole == second, true)
        let range = Int64(size / 3)..<Int64(size / 2)
        let part = try await does("read a range") { [file] in try await store.read(file, range) }
        try await expect(part.suffix(range.count) == second[Int(range.lowerBound)..<Int(range.upperBound)], true)
        file = try await does("rename") { [file] in
            try await store.modify(file, .filename) { $0.filename = FileName("moved") }
        }
        try await sees(["moved": second])
        let last = file
        try await does("delete") { try await store.delete(last) }
        try await sees([:])
    }

    // MARK: Steps

    private func does<Value: Sendable>(_ name: String, _ body: () async throws -> Value) async throws -> Value {
        step(name)
        defer { step(nil) }
        do { return try await body() } catch { throw BrokenPromise("at \"\(name)\": \(error)") }
    }

    private func makesLink(to target: String, in folder: ItemIdentifier) async throws -> Item? {
        guard keepsLinks else { return nil }
        return try await does("make a link") {
            try await store.create("link", .symlink, in: folder, nil, target: target)
        }
    }

    /// - Parameter all: Also the symlinks, if there are any.
    private func sees(_ all: [String: [UInt8]]) async throws {
        let wanted = all.filter { keepsLinks || !$0.key.hasSuffix("link") }
        let found = try await outside.files()
        guard found != wanted else { return }
        let names = (found.keys.sorted(), wanted.keys.sorted())
        throw BrokenPromise(
            names.0 == names.1
                ? "others see other contents in \(wanted.keys.filter { found[$0] != wanted[$0] }.sorted())"
                : "others see \(names.0) instead of \(names.1)")
    }

    private func expect<Value: Equatable>(_ found: Value, _ wanted: Value) async throws {
        if found != wanted { throw BrokenPromise("\(found) instead of \(wanted)") }
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func pattern(_ factor: Int) -> [UInt8] {
        // Not a power of two, so that no two parts are equal.
        let block = (0..<1_021).map { UInt8(truncatingIfNeeded: ($0 &* factor) ^ ($0 >> 8)) }
        return Array(repeatElement(block, count: size / block.count + 1).joined().prefix(size))
    }
}
