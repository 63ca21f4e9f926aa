import Glibc
import HTTPClient
import HTTPStorage
import PathStore
import PercentEncoding

/// How a server handles conditions: tested with an internal object, because servers that ignore a condition answer as
/// if it held.
package struct ServerAbilities: Hashable, Sendable, Codable {
    /// The form of the ETag in a condition.
    enum TagForm: String, Hashable, Sendable, Codable {
        case quoted, bare
    }

    /// `If-None-Match: *` on PUT.
    var createsExclusively = false
    /// Whether the server refuses `If-None-Match: *` on a copy even if nothing is at the target, as OpenStack Swift does: it tests the
    /// source.
    var refusesConditionalCopies = false
    /// `If-Match` on PUT; nil if it is not checked.
    var replaceForm: TagForm?
    /// `If-Match` on DELETE.
    var removesConditionally = false
    /// Both when a multipart upload is completed.
    var completesConditionally = false

    /// The properties of a storage with these features.
    var properties: PathStorageProperties {
        var properties = PathStorageProperties()
        properties.createStrength = createsExclusively ? .atomic : .checked
        properties.replaceStrength = replaceForm == nil ? .checked : .atomic
        properties.removeStrength = removesConditionally ? .atomic : .checked
        properties.moveStrength = .checked
        properties.concurrency = 32
        return properties
    }

    /// Whether a copy replaces nothing on a server that checks it.
    var copiesExclusively: Bool { createsExclusively && !refusesConditionalCopies }

    /// The header that replaces an object only if it has this ETag; none if the server does not check it.
    func condition(tag: String) -> [(name: String, value: String)] {
        switch replaceForm {
        case .quoted: [("If-Match", "\"\(tag)\"")]
        case .bare: [("If-Match", tag)]
        case nil: []
        }
    }

    /// Tests them. If nothing may be written, the safest assumptions are made.
    static func tried(_ connection: S3Connection, _ keys: KeySpace) async throws(S3Error) -> ServerAbilities {
        let trial = ServerTrial(
            connection: connection, key: keys.own("trial-\(getpid())-\(UInt64.random(in: 0 ... .max))"))
        do throws(S3Error) { return try await trial.run() } catch {
            guard case .complaint(let complaint) = error, [403, 405, 501].contains(complaint.status),
                !["", "SignatureDoesNotMatch"].contains(complaint.code)
            else { throw error }
            return ServerAbilities()
        }
    }
}
