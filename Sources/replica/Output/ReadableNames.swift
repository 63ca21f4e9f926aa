import ReplicaControl

/// Readable texts for names in JSON. Unknown names of a newer daemon are unchanged.
enum ReadableNames {
    /// A field of an item.
    static func field(_ name: String) -> String { fields[name] ?? name }

    /// An event of `watch`.
    static func event(_ kind: String) -> String { events[kind] ?? kind }

    /// An error of an item, with its code for `replica resolved`: `the store can't be reached (serverUnreachable, 2 tries)`.
    static func error(_ error: ItemStatusError, withTries: Bool) -> String {
        let tries = error.attempts == 1 ? "1 try" : "\(error.attempts) tries"
        return "\(Format.path(Array(error.message.utf8))) (\(error.code)\(withTries ? ", \(tries)" : ""))"
    }

    private static let fields = [
        "contents": "content", "filename": "name", "parent": "folder", "lastUsedDate": "time of last use",
        "favoriteRank": "rank among favorites",
        "modificationDate": "modification time", "extendedAttributes": "extended attributes",
    ]

    private static let events = [
        "localChange": "changed here", "localMove": "moved here", "localDeletion": "deleted here",
        "remoteChange": "changed in the store", "remoteMove": "moved in the store",
        "remoteDeletion": "deleted in the store", "uploadedDeletion": "deletion uploaded", "error": "failed",
        "importDidFinish": "import finished", "materializedSet": "set of local items changed",
        "pendingSet": "set of pending items changed",
    ]
}
