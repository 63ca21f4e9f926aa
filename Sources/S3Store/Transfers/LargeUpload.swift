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
        /// The ETag of the object, if the answer has one.
        var tag: String?
        /// The ETags of the parts, in order.
        var tags: [String]
        var length: Int64
        /// The SHA-256 of each part.
        var hashes: [String]

        /// Whether an object with this ETag is the one that was completed. Ceph's answer has none; its ETag is the MD5 of those of
        /// the parts, as at Amazon.
        func isOf(_ found: String) -> Bool {
            if let tag { return tag == found }
            let parts = tags.map(Self.bytes)
            guard parts.allSatisfy({ $0.count == 16 }), let hash = Hash.ofETags(parts.flatMap(\.self)) else {
                return false
            }
            return found == "\(Hash.hexadecimal(hash))-\(tags.count)"
        }

        /// The bytes of hexadecimal digits; none if it has others.
        private static func bytes(_ text: String) -> [UInt8] {
            let digits = text.compactMap(\.hexDigitValue)
            guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return [] }
            return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        }
    }

    func run() async throws(CallError) -> Outcome {
        let (upload, name, kept) = try await begun()
        do throws(S3Error) {
            let progress = PartProgress(contents.progress)
            let hashes = Locked([String](repeating: "", count: ranges.count))
            let hasCopied = Locked(false)
            let tags = try await storage.inParts(ranges) { (number, range) async throws(S3Error) in
                let hash = try await self.hash(range)
                hashes.withLock { $0[number - 1] = hash }
                if let part = kept[number], part.hash == hash {
                    progress.note(number, range.upperBound - range.lowerBound)
                    return part.tag
                }
                var tag = try await copied(number, range, hash, upload)
                if tag == nil {
                    let body = HTTPRequest.Body.file(contents.file.rawValue, range)
                    tag = try await upload.send(number, body) { progress.note(number, $0) }
                } else {
                    hasCopied.withLock { $0 = true }
                    progress.note(number, range.upperBound - range.lowerBound)
                }
                keep(number, hash, tag ?? "")
                return tag ?? ""
            }
            // Not every server tests the tag when it copies a part: parts of two objects are no file.
            if let base, hasCopied.withLock({ $0 }), try await storage.connection.object(key)?.tag != base.tag {
                throw .preconditionFailed
            }
            let isTested = storage.abilities.completesConditionally
            let tag = try await upload.complete(tags, isTested ? draft.condition : [])
            change { $0.unfinished = nil }
            storage.leftovers.remove(.upload(name))
            return Outcome(tag: tag, tags: tags, length: length, hashes: hashes.withLock { $0 })
        } catch {
            if !Self.mayContinue(after: error) { change { $0.unfinished = nil } }
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

    /// Has the server copy a part of the object that is replaced, if it has the same bytes at the same place.
    /// - Returns: The ETag of the part; nil if it has to be sent.
    private func copied(
        _ number: Int, _ range: Range<Int64>, _ hash: String, _ upload: MultipartUpload
    ) async throws(S3Error) -> String? {
        guard let base, base.length == length, base.range(number) == range, base.hashes[number - 1] == hash else {
            return nil
        }
        do throws(S3Error) {
            return try await upload.copy(number, from: storage.copySource(key), tag: base.tag, range)
        } catch {
            // The server may not copy parts; the condition is tested again at the end.
            if case .complaint(let complaint) = error, [400, 404, 405, 412, 501].contains(complaint.status) {
                return nil
            }
            throw error
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
            change { $0.unfinished = nil }
            // A cancelled call may still be using it.
            if !storage.leftovers.current(key).contains(unfinished.name) {
                await storage.clear(.upload(unfinished.name))
            }
        }
        let (upload, name) = try await storage.begin(key, draft.headers)
        change { $0.unfinished = .init(name: name, size: contents.size, length: length, headers: headers) }
        return (upload, name, [:])
    }

    /// - Returns: Nil if the upload is of another content, or the server does not have it any more.
    private func continued(
        _ unfinished: PartNotes.Unfinished, _ headers: String
    ) async throws(CallError) -> (MultipartUpload, [Int: PartNotes.Part])? {
        let name = unfinished.name
        guard unfinished.size == contents.size, unfinished.length == length, unfinished.headers == headers,
            storage.partNotes.mayContinue(name, now: storage.connection.now), let identifier = name.identifier,
            !storage.leftovers.current(key).contains(name)
        else { return nil }
        // In flight from now on: it is not abandoned meanwhile.
        storage.leftovers.add(.upload(name))
        let upload = MultipartUpload(connection: storage.connection, key: key, identifier: identifier)
        do throws(S3Error) {
            let there = try await upload.parts()
            let parts = unfinished.parts.filter { number, part in
                guard ranges.indices.contains(number - 1), let found = there[number] else { return false }
                let range = ranges[number - 1]
                return found.tag == part.tag && found.size == range.upperBound - range.lowerBound
            }
            return (upload, parts)
        } catch {
            storage.leftovers.leave(.upload(name))
            if case .complaint(let complaint) = error, [400, 404, 405, 501].contains(complaint.status) { return nil }
            throw .request(error)
        }
    }

    // MARK: Notes

    private func keep(_ number: Int, _ hash: String, _ tag: String) {
        change { $0.unfinished?.parts[number] = PartNotes.Part(hash: hash, tag: tag) }
    }

    private func change(_ body: (inout PartNotes.Note) -> Void) {
        note.withLock { note in
            body(&note)
            storage.partNotes.keep(note)
        }
    }

    /// Whether the parts may be used by the next attempt. A server that rejects them, or the condition, would do so again.
    private static func mayContinue(after error: S3Error) -> Bool {
        switch error {
        case .complaint(let complaint): ![400, 404, 412].contains(complaint.status)
        case .contentsEndEarly, .unwanted: false
        case .failure, .silence: true
        }
    }
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
