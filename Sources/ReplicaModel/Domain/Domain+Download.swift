internal import Logging
public import SystemPackage

extension Domain {
    /// Brings a file's content, or a range of it; of a folder its listing, one level deep: what is in it stays
    /// dataless (file-provider.md §3, requestDownloadForItem).
    /// - Parameters:
    ///   - range: In bytes, cut to the file's size; nil for all. Ignored for a folder.
    ///   - waits: Whether to return when it is here; else as soon as it is under way.
    /// - Throws: ENOENT; ENOTDIR; what ``list(_:)`` and ``hydrate(_:range:)`` throw.
    public func download(_ path: [FileName], range: Range<Int64>? = nil, waits: Bool) async throws(Errno) {
        let held = try await hold(path, listing: true)
        guard waits else {
            do throws(Errno) {
                try engine.checkConnected()
            } catch {
                release(held)
                throw error
            }
            Task {
                defer { release(held) }
                do throws(Errno) {
                    try await bring(held, range)
                } catch {
                    engine.log.info("a download failed", metadata: ["item": "\(held.number)", "errno": "\(error)"])
                    replica.post(.error, held.number, detail: "\(error)")
                }
            }
            return
        }
        defer { release(held) }
        try await bring(held, range)
    }

    private func bring(_ held: HeldItem, _ range: Range<Int64>?) async throws(Errno) {
        let kind = replica.look { $0.items[held.number]?.kind }
        switch kind {
        case .folder: try await engine.list(held.shown)
        case .file: try await engine.hydrate(held.shown, range: range)
        case .symlink: break
        case nil: throw .noSuchFileOrDirectory
        }
    }
}
