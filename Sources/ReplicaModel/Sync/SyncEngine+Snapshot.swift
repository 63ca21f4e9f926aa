internal import CLinux
internal import Glibc
internal import SystemPackage

extension SyncEngine {
    /// The content of a call as a file that stays as it is (statement 77): a clone where the filesystem below can,
    /// else a copy, without a name.
    /// - Returns: Nil when none is sent, or when it was written while it was copied.
    func snapshot(_ call: Outgoing) async throws(RemoteStoreError) -> ItemContents? {
        guard let source = call.source else { return nil }
        defer { close(source) }
        let copy: Int32
        do throws(Errno) {
            copy = try replica.folders.snapshot(of: source)
        } catch {
            if error == .noSpace { noteFullDisk() }
            return nil
        }
        guard let now = status(source), Stamp(now) == call.stamp else {
            close(copy)
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

extension StateFolders {
    /// A copy of an open file, without a name, its offset at the start.
    fileprivate func snapshot(of source: Int32) throws(Errno) -> Int32 {
        let copy = try Errno.check(
            staging.withPlatformString { open($0, CL_O_TMPFILE | O_RDWR | O_CLOEXEC, 0o600) })
        do throws(Errno) {
            guard ioctl(copy, UInt(CL_FICLONE), source) != 0 else { return copy }
            var from: Int64 = 0
            var into: Int64 = 0
            while true {
                let count = copy_file_range(source, &from, copy, &into, 1 << 30, 0)
                if count == 0 { return copy }
                guard count > 0 || Errno.last == .interrupted else { throw .last }
            }
        } catch {
            close(copy)
            throw error
        }
    }
}
