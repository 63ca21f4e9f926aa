import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// A file of the spool that receives a content, or a range of one.
final class SpoolFileSink: ContentSink {
    /// The number of bytes after which progress is reported.
    private static let step: Int64 = 64 << 10

    private let file: Int32
    /// The requested range of the content; nil for all.
    private let range: Range<Int64>?
    private let told: @Sendable (Range<Int64>) -> Void
    /// A slow transfer reports its progress each second, even if little has arrived.
    private let rateLimit = RateLimit(every: 1_000_000_000)
    /// The range received since the last report.
    private let fresh = Locked<Range<Int64>>(0..<0)

    /// - Parameter told: Called with ranges of the file whose bytes are final.
    init(_ path: String, range: Range<Int64>?, told: @escaping @Sendable (Range<Int64>) -> Void)
        throws(RemoteStoreError)
    {
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .itemUnavailable("no spool file: \(String(cString: strerror(errno)))") }
        self.range = range
        self.told = told
    }

    deinit { close(file) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        let whole = offset..<offset.saturatingAdd(Int64(bytes.count))
        let wanted = range.map { whole.clamped(to: $0) } ?? whole
        guard !wanted.isEmpty else { return }
        let part = UnsafeRawBufferPointer(
            rebasing: bytes[Int(wanted.lowerBound - offset)..<Int(wanted.upperBound - offset)])
        let start = wanted.lowerBound - (range?.lowerBound ?? 0)
        do throws(Errno) { try part.writeAll(to: file, at: start) } catch {
            throw .itemUnavailable("no space in the spool folder: \(error)")
        }
        note(start..<start + Int64(part.count))
    }

    private func note(_ place: Range<Int64>) {
        let isTime = rateLimit.isTime
        let ready = fresh.withLock { fresh -> [Range<Int64>] in
            if fresh.upperBound == place.lowerBound, !fresh.isEmpty {
                fresh = fresh.lowerBound..<place.upperBound
                guard Int64(fresh.count) >= Self.step || isTime else { return [] }
                defer { fresh = fresh.upperBound..<fresh.upperBound }
                return [fresh]
            }
            defer { fresh = place }
            return fresh.isEmpty ? [] : [fresh]
        }
        for place in ready { told(place) }
    }
}
