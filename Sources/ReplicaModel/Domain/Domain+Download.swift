internal import Logging
public import SystemPackage

/// What a download of all below a folder did.
public struct Download: Sendable {
    /// Something that is not here.
    public struct Failure: Sendable {
        public var path: [FileName]
        public var errno: Errno
    }
    /// Files and folders that are here.
    public var items = 0
    /// What could not be brought, in the order of their paths.
    public var failed: [Failure] = []
}

extension Domain {
    /// Brings a file's content, or a range of it; of a folder its listing, one level deep: what is in it stays
    /// dataless (MODEL.md#content, requestDownloadForItem).
    /// - Parameters:
    ///   - range: In bytes, cut to the file's size; nil for all. Ignored for a folder.
    ///   - waits: Whether to return when it is here; else as soon as it is under way.
    /// - Throws: ENOENT; ENOTDIR; what ``list(_:)`` and ``hydrate(_:range:)`` throw.
    public func download(_ path: [FileName], range: Range<Int64>? = nil, waits: Bool) async throws(Errno) {
        let held = try await hold(path, listing: true)
        guard waits else {
            return try begin(held) { (domain) async throws(Errno) in try await domain.bring(held, range) }
        }
        defer { release(held) }
        try await bring(held, range)
    }

    /// Brings everything below a folder, listings and contents. One item that can't be had doesn't stop the others.
    /// - Parameters:
    ///   - waits: Whether to return when all is here; else as soon as it is under way, and what fails is an event.
    ///   - work: Told how far it has come; its totals grow as folders are listed.
    /// - Throws: ENOENT; ENOTDIR; ENETDOWN when the domain is disconnected; EINTR when cancelled.
    public func downloadAll(
        below path: [FileName], waits: Bool, work: Work = Work()
    ) async throws(Errno) -> Download {
        let held = try await hold(path, listing: true)
        guard waits else {
            try begin(held) { (domain) async throws(Errno) in
                let done = try await domain.bringAll(FileBelow(number: held.number, path: path), work)
                if let first = done.failed.first { throw first.errno }
            }
            return Download()
        }
        defer { release(held) }
        return try await bringAll(FileBelow(number: held.number, path: path), work)
    }

    /// Does the work in a task of its own that holds the item.
    private func begin(_ held: HeldItem, _ work: @escaping @Sendable (Domain) async throws(Errno) -> Void) throws(Errno)
    {
        do throws(Errno) {
            try engine.checkConnected()
        } catch {
            release(held)
            throw error
        }
        Task {
            defer { release(held) }
            do throws(Errno) {
                try await work(self)
            } catch {
                engine.log.info("a download failed", metadata: ["item": "\(held.number)", "errno": "\(error)"])
                replica.post(.error, held.number, detail: "\(error)")
            }
        }
    }

    private func bring(_ held: HeldItem, _ range: Range<Int64>?) async throws(Errno) {
        let kind = replica.withTree { $0.items[held.number]?.kind }
        switch kind {
        case .folder: try await engine.list(held.inodeNumber)
        case .file: try await engine.hydrate(held.inodeNumber, range: range)
        case .symlink: break
        case nil: throw .noSuchFileOrDirectory
        }
    }

    /// Folder by folder: its listing, then the contents in it, then what is below.
    private func bringAll(_ top: FileBelow, _ work: Work) async throws(Errno) -> Download {
        var result = Download()
        var waiting = [top]
        work.begin(items: 1)
        while let item = waiting.popLast() {
            do throws(Errno) {
                let held = try await hold(item.path, listing: true)
                defer { release(held) }
                try await bring(held, nil)
                if replica.withTree({ $0.items[held.number]?.kind }) == .folder {
                    let found = try children(of: held.number)
                    work.begin(items: found.count)
                    waiting += found.reversed().map { FileBelow(number: $0.number, path: item.path + [$0.name]) }
                }
                result.items += 1
            } catch {
                try engine.checkConnected()
                if Task.isCancelled { throw .interrupted }
                // What was removed meanwhile is nothing to bring.
                if error != .noSuchFileOrDirectory || item.path == top.path {
                    result.failed.append(Download.Failure(path: item.path, errno: error))
                }
            }
            work.finishItem()
        }
        return result
    }
}
