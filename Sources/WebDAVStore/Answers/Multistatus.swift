import ChildProcess
import HTTPClient
import PathStore
import ReplicaModel
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
    /// Whether the server says within the answer that the requested resource is missing, as Cyrus does.
    private(set) var isMissing = false
    /// What is in the requested folder, but not at a valid path, or without properties.
    private(set) var leftOut = LeftOutNames()
    private var count = 0

    /// - Parameters:
    ///   - address: Entries outside of this folder are ignored.
    ///   - asked: The requested resource.
    init(_ address: WebDAVAddress, asked: [FileName] = []) {
        reader = XMLReader(Self.limits) { [unowned self] element in
            count += 1
            if let resource = Resource(element, in: address) {
                resources.append(resource)
            } else if Resource.missing(element, in: address) == asked {
                isMissing = true
            } else if let name = Resource.unreadable(element, in: asked, address) {
                leftOut.add(SanitizedText.of(name))
            }
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
