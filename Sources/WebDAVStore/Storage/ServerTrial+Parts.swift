import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel

extension ServerTrial {
    /// A feature that is tested at the same time as others, with files of its own; those with the most requests first.
    enum Part: CaseIterable {
        case parents, exact, properties, tags, exclusive, targets, folders, moves, cases, ranges, controls, removals,
            creates, replaces

        /// The result.
        var ability: WritableKeyPath<ServerAbilities, Bool> {
            switch self {
            case .parents: \.makesParents
            case .exact: \.isExact
            case .properties: \.keepsProperties
            case .tags: \.answersTags
            case .exclusive: \.makesExclusively
            case .targets: \.keepsTargets
            case .folders: \.foldersTellChanges
            case .moves: \.movesConditionally
            case .cases: \.isCaseSensitive
            case .ranges: \.fetchesRanges
            case .controls: \.takesControls
            case .removals: \.removesConditionally
            case .creates: \.createsConditionally
            case .replaces: \.replacesConditionally
            }
        }
    }

    /// - Parameter hasNumbers: Whether files have Nextcloud's numbers.
    /// - Returns: Nil if the server was too slow to show it.
    func test(_ part: Part, _ hasNumbers: Bool) async throws(WebDAVError) -> Bool? {
        switch part {
        case .parents: try await makesParents()
        case .exact: try await isExact(hasNumbers: hasNumbers)
        case .properties: try await keepsProperties()
        case .tags: try await answersTags()
        case .exclusive: try await makesExclusively()
        case .targets: try await keepsTargets()
        case .folders: try await foldersHaveTags()
        case .moves: try await movesConditionally()
        case .cases: try await isCaseSensitive()
        case .ranges: try await fetchesRanges()
        case .controls: try await takesControls()
        case .removals: try await removesConditionally()
        case .creates: try await isPutRefused("created", (name: "If-None-Match", value: "*"))
        case .replaces: try await isPutRefused("replaced", (name: "If-Match", value: Self.otherTag))
        }
    }

    // MARK: Files

    /// Writes contents of one size until two were written within one second of the server's clock.
    private func isExact(hasNumbers: Bool) async throws(WebDAVError) -> Bool? {
        var before: Resource?
        // If the client sets a file's time, two contents can have the same time at any distance.
        let time = hasNumbers ? [(name: "X-OC-Mtime", value: "1000000000")] : []
        for number in 0..<5 {
            try await put("exact", "v\(number)", time)
            let now = try await made("exact")
            guard now.tag != nil else { return false }
            if let before {
                if now.version == before.version { return false }
                if now.modified == before.modified { return true }
            }
            before = now
        }
        return nil
    }

    private func answersTags() async throws(WebDAVError) -> Bool {
        for text in ["one", "other"] {
            let told = try await put("tagged", text)
            guard let told, try await made("tagged").tag == told else { return false }
        }
        return true
    }

    private func keepsProperties() async throws(WebDAVError) -> Bool {
        try await put("noted", "one")
        let before = try await made("noted")
        var note = Resource.Note()
        (note.mode, note.dateOf) = (0o751, before.version)
        note.date = Timestamp(seconds: 1_000_000_000, nanoseconds: 123_456_789)
        let values = note.properties
        let isTaken = try await isDone { () async throws(WebDAVError) in
            try await connection.patch([name("noted")], isFolder: false, values)
        }
        guard isTaken else { return false }
        let now = try await made("noted")
        return now.note == note && now.version == before.version
    }

    private func fetchesRanges() async throws(WebDAVError) -> Bool {
        try await put("ranged", "one")
        let there = try await made("ranged")
        let request = WebDAVRequest("GET", [name("ranged")], headers: [("Range", "bytes=1-1")])
        let answer = try await connection.send(request)
        switch answer.head.status {
        case 206 where answer.body.count == 1: return true
        case 200 where Int64(answer.body.count) == there.size: return false
        default: throw .strange
        }
    }

    private func isCaseSensitive() async throws(WebDAVError) -> Bool {
        try await put("case", "one")
        return try await !isThere(name("case", isUpper: true))
    }

    private func takesControls() async throws(WebDAVError) -> Bool {
        let part = "\u{1}\t\n\u{7F}"
        let isTaken = try await isDone { () async throws(WebDAVError) in
            try await put(part, "one")
            return true
        }
        guard isTaken else { return false }
        return try await isDone { () async throws(WebDAVError) in try await isThere(name(part)) }
    }

    // MARK: Preconditions

    /// Whether a condition that does not hold is tested.
    private func isPutRefused(_ part: String, _ test: (name: String, value: String)) async throws(WebDAVError) -> Bool {
        try await put(part, "one")
        return try await isRefused { () async throws(WebDAVError) in try await put(part, "one", [test]) }
    }

    private func keepsTargets() async throws(WebDAVError) -> Bool {
        for part in ["source", "target"] { try await put(part, part) }
        let isRefused = try await isRefused { () async throws(WebDAVError) in try await move("source", to: "target") }
        // A move that was carried out and then sent again was refused, too.
        guard isRefused else { return false }
        return try await isThere(name("source"))
    }

    private func movesConditionally() async throws(WebDAVError) -> Bool {
        try await put("moved", "one")
        let isRefused = try await isRefused { () async throws(WebDAVError) in
            try await move("moved", to: "moved-there", [("If-Match", Self.otherTag)])
        }
        guard isRefused else { return false }
        return try await isThere(name("moved"))
    }

    private func removesConditionally() async throws(WebDAVError) -> Bool {
        try await put("removed", "one")
        return try await isRefused { () async throws(WebDAVError) in
            var request = WebDAVRequest("DELETE", [name("removed")])
            request.headers = [("If-Match", Self.otherTag)]
            _ = try await connection.send(request)
        }
    }

    // MARK: Folders

    /// Whether the server creates missing parent folders.
    private func makesParents() async throws(WebDAVError) -> Bool {
        try await put("orphan", "one")
        let there = [name("none"), name("orphan")]
        var request = WebDAVRequest("PUT", there)
        request.body = .bytes([0])
        let move = connection.move([name("orphan")], to: there, isFolder: false, mayReplace: false)
        for request in [request, move] {
            _ = try await isDone { () async throws(WebDAVError) in
                _ = try await connection.send(request)
                return true
            }
        }
        // A request that succeeded may have been sent twice, and then refused.
        return try await isThere(name("none"))
    }

    private func makesExclusively() async throws(WebDAVError) -> Bool {
        let folder = try await makeFolder(name("folder"))
        return try await !isDone { () async throws(WebDAVError) in
            _ = try await connection.send(folder)
            return true
        }
    }

    /// - Returns: The request.
    private func makeFolder(_ name: FileName, in outer: FileName? = nil) async throws(WebDAVError) -> WebDAVRequest {
        let names = [outer, name].compactMap { $0 }
        var request = WebDAVRequest("MKCOL", names)
        request.isFolder = true
        let folder = request
        // A proxy may have sent it twice.
        let isMade = try await isDone { () async throws(WebDAVError) in
            do throws(WebDAVError) { _ = try await connection.send(folder) } catch {
                guard error.status == 405 else { throw error }
            }
            return try await isThere(names)
        }
        guard isMade else { throw .strange }
        return folder
    }

    /// Creates the folders for ``foldersTellChanges()``.
    private func foldersHaveTags() async throws(WebDAVError) -> Bool {
        _ = try await makeFolder(name("outer"))
        guard try await made("outer").tag != nil else { return false }
        _ = try await makeFolder(FileName("inner"), in: name("outer"))
        return true
    }

    /// Whether the ETags of a folder and of the store's root change with each change two folders below. Nothing else may happen in
    /// the root at the same time.
    func foldersTellChanges() async throws(WebDAVError) -> Bool {
        let outer = name("outer")
        var seen: Set<[Resource.Tag]> = []
        for text in ["", "one", "two"] {
            if !text.isEmpty {
                var request = WebDAVRequest("PUT", [outer, FileName("inner"), FileName("file")])
                request.body = .bytes(Array(text.utf8))
                _ = try await connection.send(request)
            }
            let tags = try await tags(of: [[], [outer]]).compactMap { $0 }
            for former in seen where zip(former, tags).contains(where: { $0 == $1 }) { return false }
            guard tags.count == 2, seen.insert(tags).inserted else { return false }
        }
        return true
    }

    /// The ETags of several folders, in their order.
    private func tags(of folders: [[FileName]]) async throws(WebDAVError) -> [Resource.Tag?] {
        let connection = connection
        let found = try await inParallel(Array(folders.enumerated())) {
            (place, names) -> Result<(Int, Resource.Tag?), WebDAVError> in
            do throws(WebDAVError) {
                return .success((place, try await connection.find(names, isFolder: names.isEmpty)?.0.tag))
            } catch {
                return .failure(error)
            }
        }
        return found.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
