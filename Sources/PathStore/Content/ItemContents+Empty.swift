internal import Glibc
internal import ReplicaModel
internal import SystemPackage

extension ItemContents {
    /// No bytes.
    static let nothing = ItemContents(file: FileDescriptor(rawValue: open("/dev/null", O_RDONLY | O_CLOEXEC)), size: 0)
}
