package import PathStore
package import ReplicaModel

/// The storage of a process that speaks the level `path`.
package final class ProcessStorage: PathStorage {
    package let properties: PathStorageProperties
    private let caller: StoreCaller

    /// The maximum number of bytes of a page's text.
    private static let longestPage = 500

    init(_ caller: StoreCaller, _ properties: PathStorageProperties) {
        self.caller = caller
        self.properties = properties
    }

    /// Why the store can't be used now, in one line, as far as it is known.
    package var trouble: String? { caller.trouble }

    /// Releases the process; every later call is ``PathStorageError/unreachable(_:)``.
    package func close() async { await caller.close() }

    package func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        do throws(PathStorageError) {
            return try await entry("stat", PathCallArguments(path: path), at: path)
        } catch .notFound {
            return nil
        }
    }

    package func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        var arguments = PathCallArguments(path: folder)
        arguments.isDeep = isDeep
        arguments.page = page.map { String(decoding: $0.bytes, as: UTF8.self) }
        let result: ListResult = try await call("list", arguments)
        let next = result.next.flatMap { $0.isEmpty ? nil : EnumerationPage(bytes: Array($0.utf8)) }
        guard next?.bytes.count ?? 0 <= Self.longestPage else { throw .unreachable("the store's page is too long") }
        if let next, next == page { throw .unreachable("the store's page refers to itself") }
        let entries = result.entries.map(\.entry)
        for entry in entries where !isBelow(entry.path, folder, isDeep: isDeep) {
            throw .unreachable("the store lists \(entry.path.words) in \(folder.words)")
        }
        return PathPage(entries: entries, next: next, leftOut: result.leftOut?.names ?? LeftOutNames())
    }

    private func isBelow(_ path: StoragePath, _ folder: StoragePath, isDeep: Bool) -> Bool {
        guard path.names.starts(with: folder.names) else { return false }
        return isDeep ? path.names.count > folder.names.count : path.names.count == folder.names.count + 1
    }

    package func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        let range = properties.fetchesRanges ? range : nil
        var arguments = PathCallArguments(path: path, version: version, range: range)
        try check(arguments)
        let fetch = StoreCaller.Fetch(sink: sink, range: range)
        let result: EntryResult
        do throws(CallFailure) {
            result = try await caller.call("get", fetch: fetch, size: \.entry.fileSize) { file in
                arguments.file = file
                return arguments
            }
        } catch {
            throw PathStorageError(error)
        }
        let entry = try checked(result, at: path)
        guard entry.kind == .file else {
            throw .unreachable("the store returned the content of something that is not a file")
        }
        guard version == nil || entry.version == version else {
            throw .unreachable("the store returned another version")
        }
        return entry
    }

    package func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        var arguments = PathCallArguments(path: path)
        arguments.attributes = kept(attributes)
        arguments.guard = `guard`
        arguments.size = contents.size
        try check(arguments)
        let result: EntryResult
        do throws(CallFailure) {
            result = try await caller.call("put", contents: contents) { file in
                arguments.file = file
                return arguments
            }
        } catch {
            throw PathStorageError(error)
        }
        let entry = try checked(result, at: path)
        guard entry.kind == .file, entry.size == contents.size else {
            throw .unreachable("the store confirmed another size than was sent")
        }
        return entry
    }

    package func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        var arguments = PathCallArguments(path: path)
        arguments.attributes = kept(attributes)
        let name: String
        switch kind {
        case .file: throw .unsupported("files are created by writing them")
        case .folder: name = "folder"
        case .symlink(let target):
            guard properties.keepsSymlinks else { throw .unsupported("the store does not support symbolic links") }
            name = "symlink"
            arguments.target = target
            arguments.attributes.mode = nil
        }
        let entry = try await entry(name, arguments, at: path)
        guard entry.kind == kind else { throw .unreachable("the store created something else") }
        return entry
    }

    package func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        var arguments = PathCallArguments(path: path)
        arguments.attributes = kept(attributes)
        arguments.attributes.mark = nil
        return try await entry("set", arguments, at: path)
    }

    package func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        try await entry("move", PathCallArguments(path: path, destination: target, version: version), at: target)
    }

    package func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        do throws(PathStorageError) {
            let _: NoResult = try await call("delete", PathCallArguments(path: path, version: version))
        } catch .notFound {
            return
        }
    }

    package func signals() -> AsyncStream<StoragePath?> { caller.signals() }

    package func makeDurable() async throws(PathStorageError) {
        do throws(PathStorageError) {
            let _: NoResult = try await call("sync", PathCallArguments())
        } catch .unsupported {
            return
        }
    }

    package func usage() async throws(PathStorageError) -> StoreUsage? {
        do throws(PathStorageError) {
            let figures: SpaceFigures = try await call("usage", PathCallArguments())
            return figures.usage
        } catch .unsupported {
            return nil
        }
    }

    /// The attributes that the store keeps.
    private func kept(_ attributes: PathAttributes) -> PathAttributes {
        PathAttributes(
            mode: properties.keepsModes ? attributes.mode : nil,
            modificationDate: properties.keepsModificationDates ? attributes.modificationDate : nil,
            mark: properties.keepsMarks ? attributes.mark : nil)
    }

    private func entry(
        _ name: String, _ arguments: PathCallArguments, at path: StoragePath
    ) async throws(PathStorageError) -> PathEntry {
        try checked(try await call(name, arguments), at: path)
    }

    private func checked(_ result: EntryResult, at path: StoragePath) throws(PathStorageError) -> PathEntry {
        guard result.entry.entry.path == path else {
            throw .unreachable("the store answers for \(result.entry.entry.path.words) instead of \(path.words)")
        }
        return result.entry.entry
    }

    private func call<Result: Decodable & Sendable>(
        _ name: String, _ arguments: PathCallArguments
    ) async throws(PathStorageError) -> Result {
        try check(arguments)
        do throws(CallFailure) {
            return try await caller.call(name) { _ in arguments }
        } catch {
            throw PathStorageError(error)
        }
    }

    private func check(_ arguments: PathCallArguments) throws(PathStorageError) {
        guard caller.hello.takesAnyNames || arguments.isUTF8 else {
            throw .refused("the store accepts only UTF-8 names")
        }
    }
}
