internal import Glibc
package import SystemPackage

extension StateFolders {
    /// Renames a directory to become the tree of a domain, in constant time (statements 2, 5, 6 and 12). If this
    /// throws, the directory is unchanged; after a crash it was either moved or not.
    /// - Throws: EEXIST if the domain exists; EXDEV if it is on another filesystem; ESTALE if something else has the
    ///   directory's name by now; EINVAL if it contains the domain's folder.
    package func importDomain(from directory: DirectoryToImport) throws(Errno) {
        try make()
        try makeMark()
        try directory.move(to: tree)
    }

    /// Whether a path without symlinks is the state of a domain, or in one.
    package static func isInDomain(_ path: FilePath) -> Bool {
        var above = path
        while true {
            let record = Self(root: above)
            if [record.settings, record.database].allSatisfy({ $0.withPlatformString { access($0, F_OK) == 0 } }) {
                return true
            }
            guard above.removeLastComponent() else { return false }
        }
    }
}
