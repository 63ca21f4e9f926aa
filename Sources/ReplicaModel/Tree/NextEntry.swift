package import Glibc
package import SystemPackage

/// The next entry of a folder; nil at its end. readdir(3) returns the same for an error, and what it has not returned would count as gone.
/// - Parameter stream: From opendir(3) or fdopendir(3).
package func nextEntry(of stream: OpaquePointer) throws(Errno) -> UnsafeMutablePointer<dirent>? {
    errno = 0
    if let entry = readdir(stream) { return entry }
    guard errno == 0 else { throw .last }
    return nil
}
