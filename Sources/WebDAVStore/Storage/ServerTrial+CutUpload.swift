import Glibc
import HTTPClient
import HTTPStorage
import PathStore

extension ServerTrial {
    /// A file that an upload whose connection ended in the middle would have replaced.
    struct CutUpload: Sendable {
        let before: Resource
        let end = ContinuousClock.now
    }

    private static let part = "cut"

    /// - Returns: Nil if it can't be tested: the server's answer came before the connection ended.
    func cutUpload() async throws(WebDAVError) -> CutUpload? {
        // Any file that is shorter than its declared size.
        let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let end = Int64(lseek(file, 0, SEEK_END))
        guard end >= 16 << 10 else { return nil }
        try await put(Self.part, "one")
        let before = try await made(Self.part)
        var request = WebDAVRequest("PUT", [name(Self.part)])
        request.body = .file(file, end - (16 << 10)..<end + (64 << 10))
        let cut = request
        let isTried = try await isDone { () async throws(WebDAVError) in
            do throws(WebDAVError) { _ = try await connection.send(cut) } catch {
                guard case .contentsEndEarly = error else { throw error }
            }
            return true
        }
        return isTried ? CutUpload(before: before) : nil
    }

    /// Whether a file is unchanged though an upload of it was cut, also after the server has had time to read it. A busy
    /// one shows the file as it was until then: called last, because a busy server takes long for the other tests, too.
    func isUnchanged(_ cut: CutUpload) async throws(WebDAVError) -> Bool {
        let left = noticeTime - cut.end.duration(to: .now)
        if left > .zero {
            do { try await Task.sleep(for: left) } catch { throw .failure(.cancelled) }
        }
        guard try await isThere(name(Self.part)) else { return false }
        let now = try await made(Self.part)
        return now.size == cut.before.size && now.version == cut.before.version
    }
}
