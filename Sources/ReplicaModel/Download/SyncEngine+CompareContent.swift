internal import Glibc
internal import SystemPackage
internal import Threads

/// The result of comparing a local file with the store's.
struct ComparedContent {
    /// The version of the store's bytes.
    var version: ItemVersion
    var isEqual: Bool
}

extension SyncEngine {
    /// The result of the comparison for a noted item.
    func knownRewrite(_ change: Incoming) -> PossibleRewrite {
        guard change.rewrite != .no, let item = change.item,
            let compared = state.withLock({ $0.arrivals.compared[item.identifier] }), compared.version == item.version
        else { return change.rewrite }
        return compared.isEqual ? .no : .proven
    }

    /// Compares a local file with the store's content of the same version, in the background. The pass that applies the
    /// change uses the result.
    /// - Returns: Whether the result is known already.
    func compare(_ number: ItemNumber, _ item: Item) async -> Bool {
        guard !options.isSequential else { return await compareNow(number, item) }
        let isNew = state.withLock { $0.arrivals.updating.insert(item.identifier).inserted }
        guard isNew else { return false }
        background.start {
            let isKnown = await self.compareNow(number, item)
            self.state.withLock { _ = $0.arrivals.updating.remove(item.identifier) }
            if isKnown { self.wakeSignal.signal() }
        }
        return false
    }

    private func compareNow(_ number: ItemNumber, _ item: Item) async -> Bool {
        BackgroundPriority.take()
        do throws(RemoteStoreError) {
            guard let isEqual = try await isEqualToOurs(number, item) else { return false }
            state.withLock {
                $0.arrivals.compared[item.identifier] = ComparedContent(version: item.version, isEqual: isEqual)
            }
            return true
        } catch {
            await noteFailedUpdate(of: item, error)
            return false
        }
    }

    /// - Returns: Nil if it can't be determined now, for example while the file is being written.
    private func isEqualToOurs(_ number: ItemNumber, _ item: Item) async throws(RemoteStoreError) -> Bool? {
        guard let local = replica.openToCompare(number, item) else { return nil }
        defer { close(local.descriptor) }
        let sink = ComparingSink(descriptor: local.descriptor)
        do throws(RemoteStoreError) {
            let answer = try await store.fetchContents(
                of: item.identifier, version: item.version.content, range: nil, into: sink)
            // It changed again, and will be reported again.
            guard answer.version == item.version else { return nil }
        } catch {
            guard sink.isOther else { throw error }
            return false
        }
        return replica.isUnchanged(number, since: local.fingerprint) ? true : nil
    }
}

/// Compares fetched bytes with a file's, up to the first difference.
private final class ComparingSink: ContentSink {
    private let descriptor: Int32
    private let difference = Locked(false)

    init(descriptor: Int32) { self.descriptor = descriptor }

    var isOther: Bool { difference.withLock { $0 } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        guard !bytes.isEmpty else { return }
        let own = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { own.deallocate() }
        var filled = 0
        while filled < bytes.count {
            let count = pread(descriptor, own.baseAddress! + filled, bytes.count - filled, Int(offset) + filled)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .itemUnavailable("its content here cannot be read: \(Errno.last)") }
            if count == 0 { break }
            filled += count
        }
        guard filled == bytes.count, memcmp(own.baseAddress!, bytes.baseAddress!, filled) == 0 else {
            difference.withLock { $0 = true }
            throw .cancelled
        }
    }

    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        // A local hole reads as zeros too.
        for data in DataRanges(of: FileDescriptor(rawValue: descriptor), in: range) {
            var offset = data.lowerBound
            while offset < data.upperBound {
                let count = Int(min(data.upperBound - offset, Int64(zeros.count)))
                let outcome = zeros.withUnsafeBytes { bytes in
                    Result { () throws(RemoteStoreError) in
                        try write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
                    }
                }
                try outcome.get()
                offset += Int64(count)
            }
        }
    }
}
