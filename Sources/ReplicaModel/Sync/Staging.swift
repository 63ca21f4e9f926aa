internal import CLinux
internal import Glibc
internal import SystemPackage

/// Newer content on its way in: a file in staging that goes with the value unless it took its place in the tree.
struct Staged {
    var content: StagedContent
    var descriptor: Int32

    func discard() {
        close(descriptor)
        _ = content.path.withPlatformString { unlink($0) }
    }
}

extension SyncEngine {
    /// Fetches the whole content of an item into staging.
    func stage(_ item: Item) async throws(RemoteStoreError) -> Staged {
        let name = "fetch-" + String(state.withLock { $0.nextStaged() })
        let path = replica.folders.staging.appending(name)
        let descriptor = path.withPlatformString { open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw .cannotSynchronize("no file can be made in staging: \(Errno.last)") }
        let staged = Staged(
            content: StagedContent(path: path, version: item.version.content), descriptor: descriptor)
        do throws(RemoteStoreError) {
            let identifier = item.identifier
            let sink = FileSink(descriptor: descriptor) { [ledger, replica] count in
                ledger.withLock { $0.fetched(Int64(count), of: identifier, now: replica.now()) }
            }
            ledger.withLock { $0.beginFetch(identifier, size: item.size) }
            defer { ledger.withLock { $0.endFetch(identifier, now: replica.now()) } }
            _ = try await store.fetchContents(
                of: item.identifier, version: item.version.content, range: nil, into: sink)
            guard ftruncate(descriptor, Int(item.size)) == 0, fdatasync(descriptor) == 0 else {
                throw .cannotSynchronize("staging cannot be written: \(Errno.last)")
            }
            return staged
        } catch {
            staged.discard()
            throw error
        }
    }
}

/// Bytes go to a file.
struct FileSink: ContentSink {
    let descriptor: Int32
    /// Told how many bytes came.
    let arrived: @Sendable (Int) -> Void

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        do throws(Errno) {
            try Self.write(bytes, to: descriptor, at: offset)
            arrived(bytes.count)
        } catch {
            throw .cannotSynchronize("staging cannot be written: \(error)")
        }
    }

    /// Writes all of `bytes`.
    static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int64) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(file, bytes.baseAddress! + done, bytes.count - done, Int(offset) + done)
            guard count >= 0 else {
                guard Errno.last == .interrupted else { throw .last }
                continue
            }
            done += count
        }
    }
}
