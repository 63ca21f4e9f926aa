import ChildProcess
import FoundationEssentials
import HTTPClient
import HTTPStorage
import PathStore
import PercentEncoding

/// Why a call failed.
enum RcloneError: Error {
    /// rclone reports the reason.
    case complaint(Complaint)
    case failure(ServerFailure)
    /// The sink rejected an answer.
    case unwanted
    /// The answer is not rclone's: it proves nothing.
    case strange

    /// An error that rclone reports.
    struct Complaint: Hashable, Sendable {
        var status: Int
        /// The message of rclone or of the remote's server.
        var text: String
        /// The message in lower case without the names that the call is about: a file may be called `quota exceeded`.
        private var words: String

        /// - Parameter paths: What the call is about.
        init(status: Int, text: String, paths: [String] = []) {
            (self.status, self.text) = (status, Self.withoutQueries(text))
            words = Self.withoutNames(text, paths).lowercased()
        }

        /// - Returns: Nil if it is not in rclone's form.
        init?(_ answer: HTTPAnswer) {
            struct Told: Decodable {
                var error: String
                /// The arguments of the call.
                var input: Paths?
                /// The call, or the path of a content.
                var path: String?
            }
            struct Paths: Decodable {
                var fs, remote, srcFs, srcRemote, dstFs, dstRemote: String?

                var all: [String] { [fs, remote, srcFs, srcRemote, dstFs, dstRemote].compactMap(\.self) }
            }
            // Text that can't be decoded is not rclone's.
            guard let told = try? JSONDecoder().decode(Told.self, from: Data(answer.body)) else { return nil }
            let text = told.error.replacing("panic received: fatal error: ", with: "")
            let paths = (told.input?.all ?? []) + [told.path ?? ""].filter { $0.hasPrefix("[") }
            self.init(status: answer.head.status, text: text, paths: paths)
            self.text = SanitizedText.of(self.text, longest: 400)
        }

        /// The message without the names of these paths, where they stand as names: at the end of a path or in quotation marks, or
        /// before a colon.
        private static func withoutNames(_ text: String, _ paths: [String]) -> String {
            let names = paths.flatMap { path in
                [path, PercentText.encoded(path.utf8, keeping: "/")]
                    + path.split(whereSeparator: { "/:[]".contains($0) }).flatMap { name in
                        [String(name), PercentText.encoded(name.utf8)]
                    }
            }
            return names.sorted { $0.utf8.count > $1.utf8.count }.reduce(text) { text, name in
                guard !name.isEmpty else { return text }
                var (rest, kept) = (text[...], "")
                while let found = rest.firstRange(of: name) {
                    let (before, after) = (rest[..<found.lowerBound].last ?? kept.last, rest[found.upperBound...].first)
                    let isBegin = before.map { " :".contains($0) } ?? true
                    let isInside = before.map { "/\"'`[(".contains($0) } ?? false
                    let isEnd = after.map { "/\"'`:])?".contains($0) } ?? isInside
                    kept += rest[..<found.lowerBound] + ((isBegin || isInside) && isEnd ? "…" : rest[found])
                    rest = rest[found.upperBound...]
                }
                return kept + rest
            }
        }

        /// The message without the queries of URLs, which may contain secrets.
        static func withoutQueries(_ text: String) -> String {
            text.split(omittingEmptySubsequences: false) { " \n\t\"'<>".contains($0) }
                .filter { $0.contains("://") && $0.contains("?") }
                .reduce(into: text) { text, word in
                    text = text.replacing(word, with: word.prefix { $0 != "?" } + "?…")
                }
        }

        fileprivate func says(_ words: String...) -> Bool {
            words.contains { self.words.contains($0) }
        }

        /// Whether nothing exists at the path, or the path is below a file.
        var isNotFound: Bool {
            status == 404 && says("object not found", "directory not found") || says(": not a directory")
        }
        /// Whether a folder is at the path of a file.
        var isFolder: Bool { says("is a directory not a file", ": is a directory") }
        /// Whether a file is at the path of a folder.
        var isFile: Bool { says("is a file not a directory") }
        /// Whether the remote sets times with contents only, as Dropbox does.
        var isOfFixedTimes: Bool { says("can't set modified time") }
        var isNotEmpty: Bool { says("directory not empty", "not empty") }
        var isMissingRemote: Bool { says("didn't find section in config file") }
        var wantsPassword: Bool { says("unable to decrypt configuration", "couldn't decrypt configuration") }
        var isBusy: Bool { says("too many requests", "ratelimit", "rate limit", "slow down", "slowdown", "error 429") }
        var isFull: Bool {
            says(
                "no space left", "quota", "insufficient storage", "insufficientstorage", "disk full", "not enough space"
            )
        }
        var isReadOnly: Bool { says("read-only file system", "read only file system", "read-only filesystem") }
        var isLogin: Bool {
            says(
                "invalid_grant", "couldn't fetch token", "token expired", "unauthorized", "unauthenticated",
                "unable to authenticate", "authentication failed", "empty token", "failed to get token",
                "invalidaccesskeyid", "signaturedoesnotmatch", "no auth token", "401 ")
        }
        var isForbidden: Bool { says("permission denied", "access denied", "accessdenied", "forbidden", "403 ") }
        var isImpossible: Bool {
            status == 400
                || says(
                    "file name too long", "name too long", "invalid argument", "invalid character", "not supported",
                    "unsupported", "not implemented", "malformed", "too big", "too large", "operation not permitted")
        }
    }

    var complaint: Complaint? {
        guard case .complaint(let complaint) = self else { return nil }
        return complaint
    }

    /// Why the store can't be used.
    func failure(_ address: RcloneAddress?) -> ServerFailure {
        switch self {
        case .failure(let failure): return failure
        case .unwanted: return .cancelled
        case .strange: return .unreachable("the answer is not a valid rclone answer")
        case .complaint(let complaint):
            let of = address?.description ?? "rclone"
            if complaint.isMissingRemote {
                let remote = address?.remote ?? ""
                return .refused(
                    "rclone has no remote '\(remote)': 'rclone listremotes' lists the remotes, 'rclone config' creates one"
                )
            }
            if complaint.wantsPassword {
                return .notAuthenticated(
                    "rclone's configuration is encrypted: run replica login, or give a file with its password= (--credentials, -o credentials=)"
                )
            }
            if complaint.isNotFound { return .refused("there is no folder \(of): 'rclone mkdir' creates it") }
            if complaint.isFile { return .refused("\(of) is a file") }
            if complaint.isLogin {
                return .notAuthenticated(
                    "the remote rejects its login: 'rclone config reconnect' (\(complaint.text))")
            }
            if complaint.isBusy { return .busy(5) }
            if complaint.says("didn't find backend") { return .refused(complaint.text) }
            return .unreachable(complaint.text)
        }
    }

    /// The storage's error for a call about a path.
    func meaning(_ path: StoragePath, isChange: Bool) -> PathStorageError {
        guard let complaint else { return failure(nil).storageError }
        let text = SanitizedText.of("\(path): \(complaint.text)")
        if complaint.isLogin || complaint.wantsPassword || complaint.isMissingRemote {
            return failure(nil).storageError
        }
        if complaint.isFull { return .insufficientQuota(text) }
        if complaint.isReadOnly { return .readOnly(text) }
        if complaint.isBusy { return .busy(seconds: 5) }
        if complaint.isForbidden { return isChange ? .refused(text) : .unavailable(text) }
        if complaint.isImpossible { return isChange ? .refused(text) : .unavailable(text) }
        return .unreachable(text)
    }
}

/// The outcome of a part of a call.
enum CallError: Error {
    case storage(PathStorageError)
    case request(RcloneError)

    var complaint: RcloneError.Complaint? {
        guard case .request(let error) = self else { return nil }
        return error.complaint
    }
}
