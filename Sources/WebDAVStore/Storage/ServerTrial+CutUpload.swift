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

    /// The file of ``cutUpload(of:)``.
    static let cutPart = "cut"

    /// - Returns: Nil if it can't be tested: the server's answer came before the connection ended.
    /// - Parameter before: The file, which was just written.
    func cutUpload(of before: Resource) async throws(WebDAVError) -> CutUpload? {
        // Any file that is shorter than its declared size.
        let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let end = Int64(lseek(file, 0, SEEK_END))
        guard end >= 16 << 10 else { return nil }
        var request = WebDAVRequest("PUT", [name(Self.cutPart)])
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
        // Its absence has to be confirmed by a second answer.
        for _ in 0..<2 {
            guard let (now, _) = try await connection.find([name(Self.cutPart)], isFolder: false) else { continue }
            return now.size == cut.before.size && now.version == cut.before.version
        }
        return false
    }
}
