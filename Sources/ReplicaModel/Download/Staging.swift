internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

extension StagedContent {
    /// Removes the file, unless it was moved into the tree.
    func discard() {
        _ = path.withPlatformString { unlink($0) }
    }
}

extension SyncEngine {
    /// Fetches the whole content of an item into staging.
    /// - Throws: ``RemoteStoreError/malformedAnswer(_:)`` unless it is exactly this item's content.
    func stage(_ item: Item) async throws(RemoteStoreError) -> StagedContent {
        let name = "fetch-" + String(state.withLock { $0.arrivals.nextStaged() })
        let path = replica.folders.staging.appending(name)
        let descriptor = path.withPlatformString { open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw .cannotSynchronize("no file can be made in staging: \(Errno.last)") }
        defer { close(descriptor) }
        var staged = StagedContent(path: path, version: item.version.content)
        do throws(RemoteStoreError) {
            let identifier = item.identifier
            let sink = StagingSink(descriptor: descriptor, size: item.size) { [statistics, replica] count in
                statistics.withLock { $0.fetched(Int64(count), of: identifier, now: replica.now()) }
            }
            statistics.withLock { $0.beginFetch(identifier, size: item.size) }
            defer { statistics.withLock { $0.endFetch(identifier, now: replica.now()) } }
            let answer = try await store.fetchContents(
                of: item.identifier, version: item.version.content, range: nil, into: sink)
            guard answer.size == item.size, !sink.hasTooMuch else {
                throw .malformedAnswer("the content's size differs from the item's")
            }
            guard ftruncate(descriptor, Int(item.size)) == 0, fdatasync(descriptor) == 0 else {
                throw .cannotSynchronize("staging cannot be written: \(Errno.last)")
            }
            staged.metadataVersion = answer.version.metadata
            return staged
        } catch {
            staged.discard()
            throw error
        }
    }
}
