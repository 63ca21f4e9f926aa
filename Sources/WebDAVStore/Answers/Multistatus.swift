import HTTPClient
import Threads

/// The answer to a PROPFIND as it comes: it may be of any length, and only what is told of each thing is kept.
// Unchecked: the client's thread alone has the reader until the request has ended, and who waited for that has it then.
final class Multistatus: @unchecked Sendable {
    /// What one `response` may have.
    private static let limits: XMLReader.Limits = {
        var limits = XMLReader.Limits()
        (limits.bytes, limits.depth, limits.elements) = (128 << 10, 16, 1_000)
        return limits
    }()
    /// Entries of a folder.
    private static let most = 1_000_000

    private var reader: XMLReader?
    private var resources: [Resource] = []
    private var count = 0

    /// - Parameter address: Whose entries are kept; all others are somebody else's.
    init(_ address: WebDAVAddress) {
        reader = XMLReader(Self.limits) { [unowned self] element in
            count += 1
            if let resource = Resource(element, in: address) { resources.append(resource) }
            return count <= Self.most
        }
    }

    /// Takes bytes as they come.
    /// - Returns: False for what is no such answer.
    func take(_ bytes: UnsafeRawBufferPointer, _ head: HTTPHead) -> Bool {
        head.status == 207 && reader?.take(bytes) == true
    }

    /// All that is told; nil where it is not all, or no such answer.
    func finish(_ head: HTTPHead) -> [Resource]? {
        guard head.status == 207, let root = reader?.finish(), root.name == "multistatus",
            root.namespace == Resource.dav
        else { return nil }
        return resources
    }
}
