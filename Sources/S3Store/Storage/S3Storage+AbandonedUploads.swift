import Foundation
import HTTPClient
import Threads

/// Uploads are noted in the bucket as well: the notes of a domain that was removed are gone, and the parts stay. Parts alone don't
/// show whose they are.
extension S3Storage {
    private func note(of name: MultipartUpload.Name) -> [UInt8] {
        keys.own("upload-" + String(name.ticket, radix: 16))
    }

    /// Notes an upload that has begun. Without the note, only this store's own folder knows it.
    func announce(_ name: MultipartUpload.Name) async {
        guard let data = try? JSONEncoder().encode(name) else { return }
        var request = S3Request("PUT", note(of: name))
        (request.body, request.mayRepeat) = (.bytes(Array(data)), true)
        // If it can't be written, the upload goes on without.
        _ = try? await connection.send(request)
    }

    /// Removes the note of an upload.
    /// - Returns: Whether that succeeded.
    func withdraw(_ name: MultipartUpload.Name) async -> Bool {
        do throws(CallError) { try await removeOwn(note(of: name)) } catch { return false }
        return true
    }

    /// An upload that was completed or aborted: nothing is left of it when its note is removed.
    func end(_ name: MultipartUpload.Name, isWithdrawn: Bool = false) async {
        var isGone = isWithdrawn
        if !isGone { isGone = await withdraw(name) }
        if isGone { leftovers.remove(.upload(name)) } else { leftovers.leave(.upload(name)) }
    }

    /// Aborts the upload of an old note, unless something was sent since, and removes the note.
    func clearAbandoned(_ note: [UInt8]) async throws(CallError) {
        let answer = try await get { () async throws(S3Error) in try await connection.send(S3Request("GET", note)) }
        // One that can't be read stays.
        guard let name = try? JSONDecoder().decode(MultipartUpload.Name.self, from: Data(answer.body)),
            name.key.starts(with: keys.base), note == self.note(of: name), let identifier = name.identifier,
            !leftovers.knows(.upload(name))
        else { return }
        let upload = MultipartUpload(connection: connection, key: name.key, identifier: identifier)
        do throws(S3Error) {
            let age = limits.abandonment
            guard
                try await upload.parts().values.allSatisfy({ part in
                    part.modified.map { connection.now - $0 > age } ?? false
                })
            else { return }
        } catch {
            // It was completed, or its parts may not be listed: then nobody knows that it is abandoned.
            guard case .complaint(let complaint) = error, complaint.code == "NoSuchUpload" else { return }
        }
        if await upload.abort() { try await removeOwn(note) }
    }
}
