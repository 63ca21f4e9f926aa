internal import Glibc
internal import SystemPackage

extension SyncEngine {
    /// The content of a call as a file that stays as it is (statement 77).
    /// - Returns: Nil when none is sent, or when it was written while it was copied.
    func snapshot(_ call: Outgoing) async throws(RemoteStoreError) -> ItemContents? {
        guard let source = call.source else { return nil }
        defer { close(source) }
        let copy: Int32
        do throws(Errno) {
            copy = try snapshots.make(of: source, size: call.stamp.size)
        } catch {
            if error == .noSpace { noteFullDisk() }
            return nil
        }
        guard let now = status(source), Stamp(now) == call.stamp else {
            snapshots.release(copy, size: call.stamp.size)
            return nil
        }
        let number = call.number
        let size = now.size
        state.withLock { $0.uploads[number] = (0, size) }
        return ItemContents(file: FileDescriptor(rawValue: copy), size: size) { [state] done in
            state.withLock { $0.uploads[number]?.done = done }
        }
    }

    private func status(_ descriptor: Int32) -> FileStatus? {
        do throws(Errno) {
            return try FileStatus(descriptor: descriptor)
        } catch {
            return nil
        }
    }

    func noteFullDisk() {
        state.withLock { state in
            state.trouble = Failure(
                code: "noSpace", message: "no space left where the domain keeps its state", attempts: 1,
                retryAt: replica.now() + 5)
        }
    }
}
