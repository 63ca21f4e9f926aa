package import PathStore
import ReplicaModel

/// One call of a ``PathStorage`` method, as passed to hooks.
package struct PathStorageCall: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable, CaseIterable {
        case entry, list, read, write, make, set, move, remove, makeDurable

        /// Whether it can change anything.
        package var isChange: Bool {
            switch self {
            case .write, .make, .set, .move, .remove: true
            case .entry, .list, .read, .makeDurable: false
            }
        }
    }

    package var method: Method
    package var path: StoragePath
    /// The target of a move.
    package var target: StoragePath?

    /// A call of `method` about `path`.
    package init(_ method: Method, _ path: StoragePath, target: StoragePath? = nil) {
        self.method = method
        self.path = path
        self.target = target
    }
}

extension StoragePath {
    /// A path from text with `/` between the names; "" is the root.
    package init(_ text: String) {
        self.init(text.split(separator: "/").map { FileName(String($0)) })
    }

    /// This path after `folder`, which contains it, was moved to `target`.
    func moved(from folder: StoragePath, to target: StoragePath) -> StoragePath {
        StoragePath(target.names + names.dropFirst(folder.names.count))
    }
}
