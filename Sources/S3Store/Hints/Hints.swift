import HTTPClient
import HTTPStorage
import PathStore
import Threads

/// How often a replica looks for hints of others, and how long it collects its own changes.
package struct HintTiming: Sendable {
    /// Between two looks while the storage is used, and while it is not.
    package var (interval, idleInterval) = (Duration.seconds(10), Duration.seconds(60))
    /// From a change to its hint.
    package var delay = Duration.seconds(1)

    package init() {}
}

/// The hints in a bucket: what this replica tells others, and hears from them (docs/decisions/s3-store.md). Without them, or where
/// they can't be written, changes are found by comparing folders, later.
final class Hints: Sendable {
    private struct Telling {
        var text: HintText
        /// The folders that have to be told.
        var folders: Set<StoragePath> = []
        /// Whether a task tells them.
        var isTelling = false
        /// In a bucket with versions, the one that the next hint replaces.
        var version: String?
        var lastCall = ContinuousClock.now
    }

    private let connection: S3Connection
    private let prefix: [UInt8]
    /// This replica's name.
    let name: String
    private let timing: HintTiming
    private let telling: Locked<Telling>

    /// - Parameter name: This replica's name, which no other one has.
    init(_ connection: S3Connection, _ keys: KeySpace, name: String, timing: HintTiming) {
        (self.connection, self.name, self.timing) = (connection, name, timing)
        prefix = keys.own("hint/")
        let run = (0..<4).map { _ in String(UInt8.random(in: 0...255), radix: 16) }.joined(separator: ".")
        telling = Locked(Telling(text: HintText(run: run)))
    }

    /// The storage is used.
    func noteCall() { telling.withLock { $0.lastCall = .now } }

    // MARK: Telling

    /// Tells the others of a change in a folder, soon.
    func tell(_ folder: StoragePath) {
        let isFirst = telling.withLock { telling in
            telling.folders.insert(folder)
            defer { telling.isTelling = true }
            return !telling.isTelling
        }
        guard isFirst else { return }
        Task { [weak self, timing] in
            repeat {
                try? await Task.sleep(for: timing.delay)  // This task is not cancelled.
            } while await self?.tellAll() == true
        }
    }

    /// - Returns: Whether more came meanwhile.
    private func tellAll() async -> Bool {
        let (bytes, former) = telling.withLock { telling in
            telling.text.add(telling.folders.sorted { $0.description < $1.description })
            telling.folders = []
            return (telling.text.bytes, telling.version)
        }
        // These keys may be read-only there. The numbers show the others what they have missed.
        let version = try? await put(bytes)
        if let version {
            telling.withLock { $0.version = version }
            if let former { try? await remove(key(name), version: former) }  // It costs space only.
        }
        return telling.withLock { telling in
            telling.isTelling = !telling.folders.isEmpty
            return telling.isTelling
        }
    }

    /// - Returns: The version of the object, in a bucket with versions.
    private func put(_ bytes: [UInt8]) async throws(S3Error) -> String? {
        var request = S3Request("PUT", key(name))
        (request.body, request.mayRepeat) = (.bytes(bytes), true)
        let version = try await connection.send(request).head["x-amz-version-id"]
        return version == "null" ? nil : version
    }

    private func remove(_ key: [UInt8], version: String?) async throws(S3Error) {
        var request = S3Request("DELETE", key)
        if let version { request.query = [("versionId", version)] }
        request.mayRepeat = true
        _ = try await connection.send(request)
    }

    private func key(_ name: String) -> [UInt8] { prefix + Array(name.utf8) }

    // MARK: Hearing

    /// The folders in which others have made changes; nil for anywhere. Ends when the task that reads it does.
    func heard() -> AsyncStream<StoragePath?> {
        AsyncStream { continuation in
            let task = Task { [weak self] in
                var known = HeardHints()
                while !Task.isCancelled {
                    guard let interval = await self?.hear(&known, continuation) else { break }
                    do { try await Task.sleep(for: interval) } catch { break }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// - Returns: The time until the next look.
    private func hear(_ known: inout HeardHints, _ news: AsyncStream<StoragePath?>.Continuation) async -> Duration {
        // What can't be read now is read at the next look.
        if let hints = try? await others() {
            for name in known.look(at: hints) {
                guard let text = try? await text(of: name) else {
                    known.miss(name)
                    continue
                }
                for folder in known.hear(text, of: name) { news.yield(folder) }
            }
        }
        let now = ContinuousClock.now
        if known.takesEverywhere(now: (now - Self.start) / .seconds(1)) { news.yield(nil) }
        let isUsed = now - telling.withLock { $0.lastCall } < .seconds(60)
        return isUsed ? timing.interval : timing.idleInterval
    }

    private static let start = ContinuousClock.now

    /// The other replicas' names, with the tags of their hints. Hints that were not replaced for a month are removed.
    private func others() async throws(S3Error) -> [String: String] {
        var found: [String: String] = [:]
        for object in try await connection.list(prefix, isDeep: true, from: nil).objects {
            let name = String(decoding: object.key.dropFirst(prefix.count), as: UTF8.self)
            guard name != self.name, !name.isEmpty, object.size <= HintText.longest else { continue }
            if let written = ServerTime.listing(object.modified), connection.now - written > Self.month {
                try await remove(object.key, version: nil)
            } else {
                found[name] = object.tag
            }
        }
        return found
    }

    private static let month: Int64 = 30 * 86_400

    /// - Returns: An empty hint for an object that is none.
    private func text(of name: String) async throws(S3Error) -> HintText {
        var request = S3Request("GET", key(name))
        request.longestAnswer = HintText.longest
        return HintText(try await connection.send(request).body) ?? HintText(run: "")
    }
}
