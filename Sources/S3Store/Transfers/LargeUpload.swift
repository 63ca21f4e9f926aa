import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import SystemPackage
import Threads

/// A content during its upload in parts. A part that the server has already is not sent: from an upload that was interrupted, it
/// is used as it is; from the object that is replaced, the server copies it. Hashes show which parts these are.
struct LargeUpload: Sendable {
    let storage: S3Storage
    let path: StoragePath
    let contents: ItemContents
    let draft: S3Storage.Draft
    private let ranges: [Range<Int64>]
    /// The object that is replaced, if its parts are known.
    private let base: PartNotes.Whole?
    private let note: Locked<PartNotes.Note>

    private var key: [UInt8] { storage.keys.key(path) }
    private var length: Int64 { ranges.first.map { $0.upperBound - $0.lowerBound } ?? 0 }

    /// - Parameter before: The object that is replaced; nil for a new one.
    init(
        _ storage: S3Storage, _ path: StoragePath, _ contents: ItemContents, _ draft: S3Storage.Draft,
        over before: StoredObject?
    ) {
        (self.storage, self.path, self.contents, self.draft) = (storage, path, contents, draft)
        ranges = storage.limits.parts(of: contents.size)
        let note = storage.partNotes.note(of: storage.keys.key(path))
        self.note = Locked(note)
        base = before.flatMap { before in
            note.whole.flatMap { $0.tag == before.tag && $0.size == before.size ? $0 : nil }
        }
    }

    /// A completed upload.
    struct Outcome {
        /// The ETag of the object, if it is known.
        var tag: String?
        /// The ETags of the parts, in order.
        var tags: [String]
        var length: Int64
        /// The SHA-256 of each part.
        var hashes: [String]
    }

    func run() async throws(CallError) -> Outcome {
        let (upload, name, kept) = try await begun()
        do throws(S3Error) {
            let progress = PartProgress(contents.progress)
            let hashes = Locked([String](repeating: "", count: ranges.count))
            let hasTriedToCopy = Locked(false)
            let tags = try await storage.inParts(ranges) { (number, range) async throws(S3Error) in
                let hash = try await self.hash(range)
                hashes.withLock { $0[number - 1] = hash }
                if let part = kept[number], part.hash == hash {
                    progress.note(number, range.upperBound - range.lowerBound)
                    return part.tag
                }
                if let former = former(number, range, hash) {
                    hasTriedToCopy.withLock { $0 = true }
                    if try await copied(former, number, range, upload) {
                        // Not recorded: until the object's ETag has been compared, only the server says that the part is the same.
                        progress.note(number, range.upperBound - range.lowerBound)
                        return former
                    }
                }
                let body = HTTPRequest.Body.file(contents.file.rawValue, range)
                let tag = try await upload.send(number, body) { progress.note(number, $0) }
                keep(number, hash, tag)
                return tag
            }
            // Not every server tests the tag when it copies a part: parts of two objects are no file. What made it refuse a
            // copy may be that somebody else replaced the object.
            if let base, hasTriedToCopy.withLock({ $0 }), try await storage.connection.object(key)?.tag != base.tag {
                throw .preconditionFailed
            }
            // Before the end: if the answer is lost, nobody may ask for this upload again.
            let isWithdrawn = await storage.withdraw(name)
            let isTested = storage.abilities.completesConditionally
            let tag = try await upload.complete(tags, isTested ? draft.condition : [])
            forget()
            await storage.end(name, isWithdrawn: isWithdrawn)
            return Outcome(tag: tag, tags: tags, length: length, hashes: hashes.withLock { $0 })
        } catch {
            // Also the parts that were not written down yet.
            if Self.mayContinue(after: error) { change { _ in true } } else { forget() }
            storage.leftovers.leave(.upload(name))
            await storage.clear(.upload(name))
            throw .request(error)
        }
    }

    private func hash(_ range: Range<Int64>) async throws(S3Error) -> String {
        let file = contents.file.rawValue
        guard let hash = await storage.disk.run({ () throws(Never) in Hash.sha256(file, range) }) else {
            throw .contentsEndEarly
        }
        return Hash.hexadecimal(hash)
    }

    /// The ETag of the part with the same bytes at the same place of the object that is replaced; nil if there is none, or
    /// its ETag is no MD5, by which a copy can be told from another one.
    private func former(_ number: Int, _ range: Range<Int64>, _ hash: String) -> String? {
        guard let base, base.length == length, base.range(number) == range, base.hashes[number - 1] == hash,
            let tags = base.tags, tags.indices.contains(number - 1), MultipartUpload.bytes(tags[number - 1]).count == 16
        else { return nil }
        return tags[number - 1]
    }

    /// Has the server copy a part of the object that is replaced.
    /// - Returns: Whether the copy has the ETag of the former part; otherwise the part has to be sent.
    private func copied(
        _ former: String, _ number: Int, _ range: Range<Int64>, _ upload: MultipartUpload
    ) async throws(S3Error) -> Bool {
        guard let base else { return false }
        do throws(S3Error) {
            return try await upload.copy(number, from: storage.copySource(key), tag: base.tag, range) == former
        } catch {
            if case .complaint(let complaint) = error, complaint.isBusy { throw error }
            // The server may not copy parts, or not of this object now: they are sent then.
            return false
        }
    }

    // MARK: Beginning

    /// The upload to continue, or a new one.
    /// - Returns: The upload, its entry among the leftovers, and the parts that the server has.
    private func begun() async throws(CallError) -> (MultipartUpload, MultipartUpload.Name, [Int: PartNotes.Part]) {
        let headers = Hash.hexadecimal(Hash.sha256(Array("\(draft.headers)".utf8)))
        if let unfinished = note.withLock({ $0.unfinished }) {
            if let (upload, parts) = try await continued(unfinished, headers) {
                return (upload, unfinished.name, parts)
            }
            forget()
            // A cancelled call may still be using it.
            if !storage.leftovers.current(key).contains(unfinished.name) {
                await storage.clear(.upload(unfinished.name))
            }
        }
        let (upload, name) = try await storage.begin(key, draft.headers)
        change { note in
            note.unfinished = .init(name: name, size: contents.size, length: length, headers: headers)
            return true
        }
        return (upload, name, [:])
    }

    /// - Returns: Nil if the upload is of another content, or the server does not have it any more.
    private func continued(
        _ unfinished: PartNotes.Unfinished, _ headers: String
    ) async throws(CallError) -> (MultipartUpload, [Int: PartNotes.Part])? {
        let name = unfinished.name
        guard unfinished.size == contents.size, unfinished.length == length, unfinished.headers == headers,
            storage.partNotes.mayContinue(name, now: storage.connection.now), let identifier = name.identifier
        else { return nil }
        // In flight from now on: it is not abandoned meanwhile.
        guard storage.leftovers.claim(.upload(name)) else { return nil }
        let upload = MultipartUpload(connection: storage.connection, key: key, identifier: identifier)
        do throws(S3Error) {
            let there = try await upload.parts()
            let parts = unfinished.parts.filter { number, part in
                guard ranges.indices.contains(number - 1), let found = there[number] else { return false }
                let range = ranges[number - 1]
                return found.tag == part.tag && found.size == range.upperBound - range.lowerBound
            }
            // The last attempt may have come to its end.
            await storage.announce(name)
            return (upload, parts)
        } catch {
            storage.leftovers.leave(.upload(name))
            // It is gone, or may not be listed: everything is sent.
            if case .complaint = error, !Self.mayContinue(after: error) { return nil }
            throw .request(error)
        }
    }

    // MARK: Notes

    private func keep(_ number: Int, _ hash: String, _ tag: String) {
        let now = storage.connection.now
        change { note in
            note.unfinished?.parts[number] = PartNotes.Part(hash: hash, tag: tag)
            note.unfinished?.continuedAt = now
            // Of very many parts, some are sent again after a crash rather than written down one by one.
            return ranges.count <= Self.fewParts || number.isMultiple(of: Self.fewParts / 4)
        }
    }

    private static let fewParts = 64

    private func forget() {
        change { note in
            note.unfinished = nil
            return true
        }
    }

    private func change(_ body: (inout PartNotes.Note) -> Bool) {
        note.withLock { note in if body(&note) { storage.partNotes.keep(note) } }
    }

    /// Whether the parts may be used by the next attempt, because the line or the login was lost. Of an upload that is refused,
    /// they would only take the owner's space.
    private static func mayContinue(after error: S3Error) -> Bool {
        switch error {
        case .complaint(let complaint): complaint.isBusy || complaint.isOfServer || complaint.isOfLogin
        case .contentsEndEarly, .unwanted: false
        case .failure, .silence: true
        }
    }
}

extension S3Complaint {
    /// Whether something went wrong there.
    fileprivate var isOfServer: Bool { (500...504).contains(status) && status != 501 || code == "InternalError" }

    /// Whether the keys are not accepted now.
    fileprivate var isOfLogin: Bool { login != nil && code != "AccessDenied" }
}

/// How many bytes of all parts have been sent.
private final class PartProgress: Sendable {
    private let counts = Locked<[Int: Int64]>([:])
    private let report: @Sendable (Int64) -> Void

    init(_ report: @escaping @Sendable (Int64) -> Void) {
        self.report = report
    }

    func note(_ number: Int, _ count: Int64) {
        // A part that is sent again is counted from its beginning.
        report(
            counts.withLock { counts in
                counts[number] = max(counts[number] ?? 0, count)
                return counts.values.reduce(0, +)
            })
    }
}
