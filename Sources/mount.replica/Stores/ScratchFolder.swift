import Foundation
import Glibc
import SystemPackage

/// A new folder in /tmp with access for its owner only, for a store that is opened once. Nobody can guess its name: not another
/// user, who could take it first, and not a process of the same number, which may have been killed.
struct ScratchFolder {
    let path: FilePath

    /// - Throws: The errors of mkdtemp(3).
    init() throws(Errno) {
        var template = Array("/tmp/replica-store-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        path = FilePath(platformString: template)
    }

    /// Removes it with its contents.
    func remove() {
        // Anything left in /tmp is removed at the next start.
        try? FileManager.default.removeItem(atPath: path.string)
    }
}
