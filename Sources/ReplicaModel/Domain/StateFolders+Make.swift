internal import CLinux
internal import Glibc
package import SystemPackage

extension StateFolders {
    /// Creates the tree of a domain without local content: the root is listed when it is first used, like any other
    /// folder.
    /// - Throws: EEXIST if there is one.
    package func makeDomain() throws(Errno) {
        try make()
        try makeMark()
        let mark = try loadMark()
        let made = tree.withPlatformString { mkdir($0, 0o755) }
        guard made == 0 else { throw .last }
        guard tree.withPlatformString({ setxattr($0, OwnXattr.dataless, mark.value, mark.value.count, 0) }) == 0 else {
            let error = Errno.last
            _ = tree.withPlatformString { rmdir($0) }
            throw error
        }
    }
}
