import Foundation
import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel

/// Tests a server's features, with files of the store's own in its folder, which are removed afterwards. Large: the tests, with a file
/// for each kind.
struct ServerTrial: Sendable {
    /// The result.
    struct Outcome: Sendable {
        var abilities = ServerAbilities()
        /// Whether everything was tested: an untested feature counts as missing, and is tested again later.
        var isWhole = true
    }

    let connection: WebDAVConnection
    private var base = "\(WebDAVStorage.temporaryPrefix)trial-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    /// Whether other tests run at the same time: a busy server's failure says nothing about the feature then.
    private var isAmongOthers = false
    let begin = ContinuousClock.now
    let timeLimit: Duration
    /// How long the server may take, at least, to read a request whose connection ended, and to finish what it wrote.
    let noticeTime: Duration
    static let otherTag = "\"replica-no-such-tag\""
    /// The number of concurrent requests: of the tests that don't concern each other, and of a race.
    static let rivals = 8

    /// Whether a request is answered within a quarter of a second.
    private let isNear: Bool

    private init(_ connection: WebDAVConnection, _ limits: (time: Duration, notice: Duration), _ roundTrip: Duration) {
        (self.connection, timeLimit, noticeTime) = (connection, limits.time, limits.notice)
        isNear = roundTrip < .milliseconds(250)
    }

    /// Runs the tests. If nothing may be written, the safest assumptions are made.
    /// - Parameter roundTrip: How long a request took that was alone.
    static func run(
        _ connection: WebDAVConnection, timeLimit: Duration, noticeTime: Duration, roundTrip: Duration
    ) async throws(WebDAVError) -> Outcome {
        let trial = ServerTrial(connection, (timeLimit, noticeTime), roundTrip)
        do throws(WebDAVError) {
            let outcome = try await trial.run()
            await trial.tidy()
            return outcome
        } catch {
            await trial.tidy()
            guard case .complaint(let complaint) = error, [403, 405, 423, 501, 507].contains(complaint.status) else {
                throw error
            }
            return Outcome(abilities: ServerAbilities(), isWhole: false)
        }
    }

    /// What follows the parts runs alone: other requests would change the folders' ETags, or who wins a race.
    private func run() async throws(WebDAVError) -> Outcome {
        // If nothing may be written, that is found out here.
        let files = try await prepared([Self.first, Self.cutPart])
        guard let first = files[Self.first], let beforeCut = files[Self.cutPart] else { throw .strange }
        var abilities = ServerAbilities()
        (abilities.hasTags, abilities.hasNumbers) = (first.tag != nil, first.cloud.number != nil)
        for (part, isFound) in try await parts(hasNumbers: abilities.hasNumbers) {
            abilities[keyPath: part.ability] = isFound
        }
        if abilities.foldersTellChanges { abilities.foldersTellChanges = try await foldersTellChanges() }
        let cut = try await cutUpload(of: beforeCut)
        var outcome = Outcome(abilities: abilities)
        try await race(&outcome)
        if let cut { outcome.abilities.writesWhole = try await isUnchanged(cut) }
        return outcome
    }

    private static let first = "first"

    /// Writes files at the same time; those at which the server fails under load one after the other.
    private func prepared(_ names: [String]) async throws(WebDAVError) -> [String: Resource] {
        var files: [String: Resource] = [:]
        let results = try await inParallel(names, most: Self.rivals) {
            name -> Result<(String, Resource?), WebDAVError> in
            do throws(WebDAVError) {
                try await put(name, "one")
                return .success((name, try await made(name)))
            } catch {
                return error.mayComeFromLoad ? .success((name, nil)) : .failure(error)
            }
        }
        for (name, file) in results {
            if file == nil { try await put(name, "one") }
            files[name] = if let file { file } else { try await made(name) }
        }
        return files
    }

    /// Tests the parts at the same time: over a slow connection they take as long as the longest of them. What is still open then is
    /// tested again one after the other, with other files.
    private func parts(hasNumbers: Bool) async throws(WebDAVError) -> [(Part, Bool)] {
        var (trial, alone) = (self, self)
        trial.isAmongOthers = true
        alone.base += "-alone"
        let among = trial
        let results = try await inParallel(Part.allCases, most: Self.rivals) {
            part -> Result<(Part, Bool?), WebDAVError> in
            do throws(WebDAVError) { return .success((part, try await among.test(part, hasNumbers))) } catch {
                return error.mayComeFromLoad ? .success((part, nil)) : .failure(error)
            }
        }
        var found: [(Part, Bool)] = []
        for (part, isFound) in results {
            if let isFound {
                found.append((part, isFound))
            } else if part == .exact, !isNear {
                // Two writes and a look between them take too much of a second, alone as well.
                found.append((part, false))
            } else {
                found.append((part, try await alone.test(part, hasNumbers) ?? false))
            }
        }
        return found
    }

    // MARK: Requests

    func name(_ part: String, isUpper: Bool = false) -> FileName {
        let text = "\(base)-\(part)"
        return FileName(isUpper ? text.uppercased() : text)
    }

    /// - Returns: The ETag of the answer.
    @discardableResult
    func put(
        _ part: String, _ text: String, _ headers: [(name: String, value: String)] = []
    ) async throws(WebDAVError) -> Resource.Tag? {
        var request = WebDAVRequest("PUT", [name(part)], headers: headers)
        request.body = .bytes(Array(text.utf8))
        return try await connection.send(request).head["etag"].flatMap(Resource.Tag.init)
    }

    func move(
        _ part: String, to target: String, _ headers: [(name: String, value: String)] = []
    ) async throws(WebDAVError) {
        var request = connection.move([name(part)], to: [name(target)], isFolder: false, mayReplace: false)
        request.headers += headers
        _ = try await connection.send(request)
    }

    /// The resource that was written.
    func made(_ part: String) async throws(WebDAVError) -> Resource {
        guard let (resource, _) = try await connection.find([name(part)], isFolder: false) else { throw .strange }
        return resource
    }

    /// Whether something is at this path. Its absence has to be confirmed by a second answer.
    func isThere(_ names: [FileName]) async throws(WebDAVError) -> Bool {
        if try await connection.find(names, isFolder: false) != nil { return true }
        return try await connection.find(names, isFolder: false) != nil
    }

    func isThere(_ name: FileName) async throws(WebDAVError) -> Bool { try await isThere([name]) }

    /// Whether a server supports something. A failure has to be confirmed by a second, equal one, because a proxy may
    /// have caused the first.
    func isDone(_ body: () async throws(WebDAVError) -> Bool) async throws(WebDAVError) -> Bool {
        var former: Int?
        for _ in 0..<4 {
            do throws(WebDAVError) { return try await body() } catch {
                guard let status = error.status, ![401, 429, 502, 503, 504].contains(status),
                    !isAmongOthers || !error.mayComeFromLoad
                else { throw error }
                if status == former { return false }
                former = status
            }
        }
        throw .strange
    }

    /// Whether the server reports that a precondition failed.
    func isRefused(_ body: () async throws(WebDAVError) -> Void) async throws(WebDAVError) -> Bool {
        var isRefused = false
        _ = try await isDone { () async throws(WebDAVError) in
            do throws(WebDAVError) { try await body() } catch {
                guard error.isPreconditionFailed else { throw error }
                isRefused = true
            }
            return true
        }
        return isRefused
    }

    /// Removes the remaining files; those that can't be removed now are removed after a day.
    private func tidy() async {
        let (connection, base) = (connection, base)
        _ = await Task {
            guard let (all, _, _) = try? await connection.ask([], isFolder: true, withChildren: true) else { return }
            let left = all.filter { $0.names.count == 1 && $0.names[0].bytes.starts(with: base.utf8) }
            // A file that stays is removed later.
            _ = try? await inParallel(left) { resource -> Result<Void, WebDAVError> in
                var request = WebDAVRequest("DELETE", resource.names, headers: WebDAVRequest.forGood)
                request.isFolder = resource.isFolder
                _ = try? await connection.send(request)
                return .success(())
            }
        }.value
    }
}

extension WebDAVError {
    /// Whether a server may fail in this way only because it has several requests at the same time: it is busy, something is locked,
    /// or it ends a connection.
    fileprivate var mayComeFromLoad: Bool {
        switch self {
        case .complaint(let complaint): [408, 423, 429, 500, 502, 503, 504].contains(complaint.status)
        case .failure(.unreachable): true
        case .failure, .silence, .contentsEndEarly, .unwanted, .strange: false
        }
    }
}
