internal import Logging
package import SystemPackage
internal import Threads

/// The result of downloading everything below a folder.
package struct Download: Sendable {
    /// An item that could not be fetched.
    package struct Failure: Sendable {
        package var path: [FileName]
        package var errno: Errno
    }
    /// Files and folders that are materialized.
    package var items = 0
    /// The items that could not be fetched: folders that could not be listed, then the others, each ordered by path.
    package var failed: [Failure] = []
}

extension Domain {
    /// Downloads a file's content, or a range of it, or a folder's listing, whose entries stay dataless
    /// (MODEL.md#content, requestDownloadForItem).
    /// - Parameters:
    ///   - range: In bytes, clamped to the file's size; nil for all. Ignored for a folder.
    ///   - waits: Whether to return when it is local; otherwise returns as soon as the download has started.
    ///   - work: Receives the progress.
    /// - Throws: ENOENT; ENOTDIR; the errors of ``list(_:)`` and ``hydrate(_:range:)``.
    package func download(
        _ path: [FileName], range: Range<Int64>? = nil, waits: Bool, work: RequestProgress = RequestProgress()
    ) async throws(Errno) {
        let held = try await hold(path, listing: true)
        guard waits else {
            return try begin(held) { (domain) async throws(Errno) in try await domain.downloadItem(held, range) }
        }
        defer { release(held) }
        let missing = replica.withTree { $0.items[held.number]?.missingBytes } ?? 0
        let bytes = min(missing, range.map { Int64($0.count) } ?? .max)
        work.find(items: 1, bytes: bytes)
        work.endCounting()
        try await downloadItem(held, range, work, bytes)
    }

    /// Downloads everything below a folder, listings and contents, several at a time. An item that can't be downloaded
    /// doesn't stop the others.
    /// - Parameters:
    ///   - waits: Whether to return when everything is local; otherwise returns as soon as the download has started,
    ///     and failures are reported as events.
    ///   - work: Receives the progress; everything is listed and counted before the first content is fetched.
    /// - Throws: ENOENT; ENOTDIR; ENETDOWN when the domain is disconnected; EINTR when cancelled.
    package func downloadAll(
        below path: [FileName], waits: Bool, work: RequestProgress = RequestProgress()
    ) async throws(Errno) -> Download {
        let held = try await hold(path, listing: true)
        guard waits else {
            try begin(held) { (domain) async throws(Errno) in
                let done = try await domain.downloadAll(at: path, isPinnedOnly: false, work)
                if let first = done.failed.first { throw first.errno }
            }
            return Download()
        }
        defer { release(held) }
        return try await downloadAll(at: path, isPinnedOnly: false, work)
    }

    /// Does the work in a task that keeps the item loaded.
    private func begin(_ held: HeldItem, _ work: @escaping @Sendable (Domain) async throws(Errno) -> Void) throws(Errno)
    {
        do throws(Errno) {
            try engine.checkConnected()
        } catch {
            release(held)
            throw error
        }
        engine.background.start { [self] in
            defer { release(held) }
            do throws(Errno) {
                try await work(self)
            } catch {
                // The domain stops.
                guard !Task.isCancelled else { return }
                engine.log.info("a download failed", metadata: ["item": "\(held.number)", "errno": "\(error)"])
                replica.post(.error, held.number, detail: "\(error)")
            }
        }
    }

    /// - Parameter bytes: The number of its bytes that are not local.
    func downloadItem(
        _ held: HeldItem, _ range: Range<Int64>?, _ work: RequestProgress, _ bytes: Int64
    ) async throws(Errno) {
        var begun: Int?
        defer { work.finishItem(begun, bytes: bytes) }
        if let identifier = replica.withTree({ $0.items[held.number]?.base?.identifier }) {
            begun = work.begin(bytes: bytes) { [statistics = engine.statistics] in
                statistics.withLock { $0.fetches[identifier]?.done ?? 0 }
            }
        }
        try await downloadItem(held, range)
    }

    private func downloadItem(_ held: HeldItem, _ range: Range<Int64>?) async throws(Errno) {
        let kind = replica.withTree { $0.items[held.number]?.kind }
        switch kind {
        case .folder: try await engine.list(held.inodeNumber)
        case .file: try await engine.hydrate(held.inodeNumber, range: range)
        case .symlink: break
        case nil: throw .noSuchFileOrDirectory
        }
    }
}
