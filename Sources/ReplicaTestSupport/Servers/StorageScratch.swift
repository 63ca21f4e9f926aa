package import PathStore
internal import ReplicaModel

/// A storage under test, with steps on it by paths as text.
package protocol StorageScratch: Sendable {
    associatedtype Storage: PathStorage
    /// The storage under test.
    var storage: Storage { get }
}

extension StorageScratch {
    package func path(_ text: String) -> StoragePath {
        StoragePath(text.split(separator: "/").map { FileName(String($0)) })
    }

    @discardableResult
    package func write(
        _ path: String, _ content: [UInt8], _ attributes: PathAttributes = PathAttributes(),
        guard condition: WriteGuard = .absent
    ) async throws -> PathEntry {
        let outcome = try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            do throws(PathStorageError) {
                return Result<PathEntry, PathStorageError>.success(
                    try await storage.write(
                        self.path(path), contents: contents, attributes: attributes, guard: condition))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    @discardableResult
    package func write(
        _ path: String, _ text: String, _ attributes: PathAttributes = PathAttributes(),
        guard condition: WriteGuard = .absent
    ) async throws -> PathEntry {
        try await write(path, Array(text.utf8), attributes, guard: condition)
    }

    /// Reads ranges of a file in the middle, at its end and after it.
    package func checkRanges(of path: String, version: String?, _ content: [UInt8]) async throws {
        let end = Int64(content.count)
        for range in [0..<min(end, 10), end / 2..<end, end..<end + 10, end / 3..<end + 100] {
            let found = try await read(path, version: version, range: range)
            let wanted = content[Int(min(range.lowerBound, end))..<Int(min(range.upperBound, end))]
            guard found.suffix(wanted.count) == wanted else {
                throw BrokenPromise("\(range) of \(end) bytes comes with other bytes")
            }
        }
    }

    package func folder(_ path: String, mode: UInt16? = nil) async throws {
        _ = try await storage.make(self.path(path), kind: .folder, attributes: PathAttributes(mode: mode))
    }

    /// The error of an impossible create.
    package func makeFails(_ path: String, _ kind: PathKind) async throws -> PathStorageError {
        try await failure {
            _ = try await storage.make(self.path(path), kind: kind, attributes: PathAttributes())
        }
    }

    package func read(_ path: String, version: String? = nil, range: Range<Int64>? = nil) async throws -> [UInt8] {
        let buffer = ContentBuffer()
        _ = try await storage.read(self.path(path), version: version, range: range, into: buffer)
        return buffer.bytes
    }

    package func entry(_ path: String) async throws -> PathEntry? { try await storage.entry(at: self.path(path)) }

    /// All entries of a folder by name, page by page.
    package func list(_ folder: String = "") async throws -> [String: PathEntry] {
        var (found, page) = ([String: PathEntry](), EnumerationPage?.none)
        repeat {
            let answer = try await storage.list(path(folder), isDeep: false, from: page)
            for entry in answer.entries { found[entry.path.name?.description ?? ""] = entry }
            page = answer.next
        } while page != nil
        return found
    }
}

/// The error of a call that has to fail.
package func failure(_ body: () async throws -> Void) async throws -> PathStorageError {
    do { try await body() } catch let error as PathStorageError { return error }
    throw BrokenPromise("it should have failed")
}
