internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// The content of a call as an immutable file (statement 77).
    /// - Returns: Nil if no content is sent, or if the file was written while it was copied.
    /// - Throws: ``RemoteStoreError/itemUnavailable(_:)`` if the file cannot be read now.
    func snapshot(_ call: OutgoingCall) async throws(RemoteStoreError) -> ItemContents? {
        guard let source = call.source else { return nil }
        defer { close(source) }
        if call.isWritten {
            // A store to a mapped page changes the file's times only if the page is clean: this cleans them, so that stores after the copy are
            // seen.
            _ = sync_file_range(source, 0, 0, CL_SYNC_FILE_RANGE_WAIT_BEFORE | CL_SYNC_FILE_RANGE_WRITE)
        }
        let copy: Int32
        do throws(Errno) {
            copy = try snapshots.make(of: source, size: call.fingerprint.size)
        } catch {
            guard error.isFullDisk else { throw .itemUnavailable("its content cannot be read: \(error)") }
            noteFullDisk()
            return nil
        }
        guard let now = status(source), FileFingerprint(now) == call.fingerprint else {
            snapshots.release(copy, size: call.fingerprint.size)
            return nil
        }
        guard status(copy)?.size == now.size else {
            snapshots.release(copy, size: call.fingerprint.size)
            throw .itemUnavailable("its content cannot be read: it ends before its size")
        }
        let number = call.number
        let size = now.size
        statistics.withLock { $0.beginUpload(number, size: size) }
        return ItemContents(file: FileDescriptor(rawValue: copy), size: size) { [statistics, replica] done in
            statistics.withLock { $0.uploaded(done, of: number, now: replica.now()) }
        }
    }

    private func status(_ descriptor: Int32) -> FileStatus? {
        do throws(Errno) {
            return try FileStatus(descriptor: descriptor)
        } catch {
            return nil
        }
    }
}
