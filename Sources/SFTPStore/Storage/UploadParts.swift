import PathStore
import ReplicaModel
import SystemPackage
import Threads

/// The parts of one large file during its upload. A part counts when it is on the server's disk, so that a power cut there
/// loses none that counts.
struct UploadParts: Sendable {
    let storage: SFTPStorage
    let session: SFTPSession
    let contents: ItemContents
    let ranges: [Range<Int64>]
    private let notes: UploadNotes
    /// The path of the file on the server.
    private let target: [UInt8]
    private let note: Locked<UploadNotes.Note>
    /// The age of the notes at the beginning.
    private let age: UInt64

    private var length: Int64 { ranges[0].upperBound }

    /// - Returns: Nil if the file is not sent in parts: it is small, or the server can't say what is on its disk.
    init?(_ storage: SFTPStorage, _ session: SFTPSession, _ contents: ItemContents, _ target: [UInt8]) async {
        guard let notes = storage.notes, session.syncs, contents.size >= notes.parted else { return nil }
        (self.storage, self.session, self.contents, self.target) = (storage, session, contents, target)
        (self.notes, ranges) = (notes, notes.parts(of: contents.size))
        let (note, age) = await storage.disk.run { (notes.note(of: target), notes.currentAge()) }
        (self.note, self.age) = (Locked(note), age)
    }

    /// The SHA-256 of a part of the content; nil if it ends before.
    func hash(_ number: Int) async -> String? {
        guard ranges.indices.contains(number) else { return nil }
        let (file, range) = (contents.file, ranges[number])
        return await storage.disk.run { () throws(Never) in ContentHash.of(file, range).map { hexadecimal($0) } }
    }

    // MARK: Continuing

    /// The temporary file of an interrupted upload of the same content, open for writing.
    /// - Returns: The file, and how many parts of it the server has; nil if there is none that can be continued.
    func continued() async throws(CallError) -> (temporary: [UInt8], handle: RemoteHandle, count: Int)? {
        guard let unfinished = note.withLock({ $0.unfinished }) else { return nil }
        if let handle = try await opened(unfinished) {
            return (unfinished.temporary, handle, unfinished.synced)
        }
        forget()
        storage.clear(unfinished.temporary, session)
        return nil
    }

    private func opened(_ unfinished: UploadNotes.Unfinished) async throws(CallError) -> RemoteHandle? {
        guard unfinished.size == contents.size, unfinished.length == length, unfinished.synced > 0,
            unfinished.hashes.count <= ranges.count, unfinished.synced <= unfinished.hashes.count,
            let found = try await found(unfinished)
        else { return nil }
        // All parts of which anything was sent: the former connection may still deliver the rest.
        for (number, known) in unfinished.hashes.enumerated() {
            if Task.isCancelled { throw .request(.cancelled) }
            guard await hash(number) == known else { return nil }
            contents.progress(ranges[number].lowerBound)
        }
        do throws(RequestFailure) {
            let handle = try await session.send(.open(unfinished.temporary, .write)).handle()
            // Its name may be a link to another file since.
            return try await session.send(.fstat(handle.bytes)).attributes() == found ? handle : nil
        } catch {
            // It is gone, or is not ours any more.
            if case .status = error { return nil }
            throw .request(error)
        }
    }

    /// The temporary file, if it can be what was written. In a folder that other users may write to, or that is another user's, its
    /// name may be a link to another file by now.
    private func found(_ unfinished: UploadNotes.Unfinished) async throws(CallError) -> SFTPAttributes? {
        let folder = Array(unfinished.temporary[..<(unfinished.temporary.lastIndex(of: UInt8(ascii: "/")) ?? 0)])
        let (above, own) = (
            session.send(.stat(folder.isEmpty ? [UInt8(ascii: "/")] : folder)),
            session.send(.lstat(unfinished.temporary))
        )
        let (place, file) = try await session.get { () async throws(RequestFailure) in
            (try await above.presentAttributes(), try await own.presentAttributes())
        }
        guard let place, let mode = place.mode, mode & 0o022 == 0, let file, file.isFile, let size = file.size,
            let owner = file.owner?.user, place.owner?.user == owner,
            ranges[unfinished.synced - 1].upperBound <= Int64(clamping: size), size <= UInt64(contents.size)
        else { return nil }
        return file
    }

    // MARK: The file that is replaced

    /// The parts of the file that is replaced, if they are known and the server can copy them.
    func base(_ condition: WriteGuard) async throws(CallError) -> UploadBase? {
        guard case .version(let version) = condition, session.copies, let whole = note.withLock({ $0.whole }),
            whole.version == version, whole.length == length
        else { return nil }
        // Anything may have been moved to the path since.
        guard await storage.disk.run({ [notes] in notes.currentAge() }) == whole.age else { return nil }
        do throws(RequestFailure) {
            let handle = try await session.send(.open(target, .read)).handle()
            let found = try await session.send(.fstat(handle.bytes)).attributes()
            guard found.version == version, found.access == whole.access else { return nil }
            return UploadBase(session: session, handle: handle, hashes: whole.hashes)
        } catch {
            if case .status = error { return nil }
            throw .request(error)
        }
    }

    // MARK: Notes

    /// A new temporary file.
    func begin(_ temporary: [UInt8]) {
        note.withLock { note in
            note.unfinished = UploadNotes.Unfinished(temporary: temporary, size: contents.size, length: length)
        }
    }

    /// A part is sent from now on.
    func isSent(_ number: Int, _ hash: String) async {
        await change { note in
            guard note.unfinished?.hashes.count == number else { return }
            note.unfinished?.hashes.append(hash)
        }
    }

    /// The server has it, and those before, on its disk. Written down with the next part, or when the upload fails.
    func isSynced(_ number: Int) {
        note.withLock { note in
            guard let former = note.unfinished?.synced else { return }
            note.unfinished?.synced = max(former, number + 1)
        }
    }

    /// Whether the next attempt can use what was sent, because the connection or the process was lost. Of an upload that is refused,
    /// it would only take space.
    func mayContinue(after error: CallError) -> Bool {
        switch error {
        case .request(.lost), .request(.cancelled), .storage(.cancelled): break
        default: return false
        }
        let isWorthIt = note.withLock { ($0.unfinished?.synced ?? 0) > 0 }
        if isWorthIt { note.withLock { notes.keep($0, of: target) } }
        return isWorthIt
    }

    /// The temporary file is published from now on, or removed: nothing is written to it any more.
    func forget() {
        note.withLock { note in
            note.unfinished = nil
            notes.keep(note, of: target)
        }
    }

    /// The file was published.
    func keepWhole(_ entry: PathEntry, _ written: SFTPAttributes, _ hashes: [String]) async {
        // A write of another client must not be able to have the same version.
        guard entry.isSettled, let version = entry.version, hashes.count == ranges.count else { return }
        await change { [age] note in
            note.whole = UploadNotes.Whole(
                version: version, length: length, hashes: hashes, access: written.access, age: age)
        }
    }

    /// The hashes of all parts that were sent.
    var hashes: [String] { note.withLock { $0.unfinished?.hashes ?? [] } }

    private func change(_ body: @escaping @Sendable (inout UploadNotes.Note) -> Void) async {
        await storage.disk.run { [note, notes, target] () throws(Never) in
            note.withLock { note in
                body(&note)
                notes.keep(note, of: target)
            }
        }
    }
}

extension SFTPAttributes {
    /// The owner and the mode, which two files with the same version may differ in.
    fileprivate var access: String { "\(mode ?? 0) \(owner?.user ?? 0) \(owner?.group ?? 0)" }
}

/// A file that is replaced, open for reading: the server copies the parts that did not change.
struct UploadBase: Sendable {
    let session: SFTPSession
    let handle: RemoteHandle
    let hashes: [String]

    /// Has the server copy a part, if it is the same.
    /// - Returns: Whether it did; otherwise all of it has to be sent. Nil if the part is not the same.
    func copied(
        _ number: Int, _ hash: String, _ range: Range<Int64>, to target: RemoteHandle
    ) async throws(CallError) -> Bool? {
        guard hashes.indices.contains(number), hashes[number] == hash else { return nil }
        do throws(RequestFailure) {
            try await session.send(.copy(handle.bytes, range, to: target.bytes)).done()
            return true
        } catch {
            if case .status = error { return false }
            throw .request(error)
        }
    }
}
