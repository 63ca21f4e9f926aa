/// The arguments of a call of rclone's server; those that are nil are not sent. Large: the arguments of all calls.
struct RcloneInput: Encodable, Sendable {
    var fs: String?
    var remote: String?
    var srcFs: String?
    var srcRemote: String?
    var dstFs: String?
    var dstRemote: String?
    var opt: Options?
    var config: Config?
    /// Identifies the call, so that its progress can be requested.
    var group: String?
    var createEmptySrcDirs: Bool?
    var deleteEmptySrcDirs: Bool?
    var configPassword: String?
    var hashType: String?

    /// For listings and lookups.
    struct Options: Encodable, Sendable {
        var recurse: Bool?
        var filesOnly: Bool?
        var dirsOnly: Bool?
        var showHash: Bool?
        var hashTypes: [String]?
        var noMimeType = true
    }

    /// Settings that override rclone's own for this call only.
    struct Config: Encodable, Sendable {
        var ignoreTimes: Bool?
        var partialSuffix: String?
        var useServerModTime: Bool?

        private enum CodingKeys: String, CodingKey {
            case ignoreTimes = "IgnoreTimes"
            case partialSuffix = "PartialSuffix"
            case useServerModTime = "UseServerModTime"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case fs, remote, srcFs, srcRemote, dstFs, dstRemote, opt
        case config = "_config"
        case group = "_group"
        case createEmptySrcDirs, deleteEmptySrcDirs, configPassword, hashType
    }

    /// A call about a path of a remote.
    init(_ fs: String? = nil, _ remote: String? = nil) { (self.fs, self.remote) = (fs, remote) }

    /// A call that moves or copies a file.
    init(from: (fs: String, remote: String), to: (fs: String, remote: String)) {
        (srcFs, srcRemote, dstFs, dstRemote) = (from.fs, from.remote, to.fs, to.remote)
    }
}

/// A command of rclone for which its server has no call.
struct RcloneCommand: Encodable, Sendable {
    let command: String
    let arg: [String]
    let opt: [String: String]
}

/// An answer that only has to be a JSON object.
struct RcloneNothing: Decodable {
    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Key.self) }

    private enum Key: CodingKey {}
}

/// An answer to `operations/hashsumfile`.
struct RcloneHash: Decodable {
    let hash: String
}

/// An answer to `core/version`.
struct RcloneVersion: Decodable {
    let version: String
}

/// An answer to `core/command`.
struct RcloneOutput: Decodable {
    let error: Bool
    let result: String
}

/// An answer to `config/paths`.
struct RclonePaths: Decodable {
    let config: String
}

/// The progress of a group, from `core/stats`.
struct RcloneProgress: Decodable, Hashable {
    let bytes: Int64
    var checks: Int64?
    var transfers: Int64?
    var renames: Int64?
    var deletes: Int64?
    var listed: Int64?
}
