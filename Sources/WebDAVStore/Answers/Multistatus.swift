import HTTPClient
import Threads

/// Parses the answer to a PROPFIND while it arrives: it may be of any length, and only the result for each resource is
/// kept.
// Unchecked: only the client's thread uses the reader until the request has ended, and only the caller afterwards.
final class Multistatus: @unchecked Sendable {
    /// The limits of one `response`.
    private static let limits: XMLReader.Limits = {
        var limits = XMLReader.Limits()
        (limits.bytes, limits.depth, limits.elements) = (128 << 10, 16, 1_000)
        return limits
    }()
    /// The maximum number of entries of a folder.
    private static let most = 1_000_000

    private var reader: XMLReader?
    private var resources: [Resource] = []
    private var count = 0

    /// - Parameter address: Entries outside of this folder are ignored.
    init(_ address: WebDAVAddress) {
        reader = XMLReader(Self.limits) { [unowned self] element in
            count += 1
            if let resource = Resource(element, in: address) { resources.append(resource) }
            return count <= Self.most
        }
    }

    /// Receives bytes as they arrive.
    /// - Returns: False if it is not a valid answer.
    func take(_ bytes: UnsafeRawBufferPointer, _ head: HTTPHead) -> Bool {
        head.status == 207 && reader?.take(bytes) == true
    }

    /// All resources; nil if the answer is incomplete or invalid.
    func finish(_ head: HTTPHead) -> [Resource]? {
        guard head.status == 207, let root = reader?.finish(), root.name == "multistatus",
            root.namespace == Resource.dav
        else { return nil }
        return resources
    }
}
