internal import CLinux
internal import Glibc

/// Reads an extended attribute of a folder's entry without opening the entry; a symlink is not followed.
package enum EntryAttribute {
    /// As getxattr(2): the attribute's length, or -1 with errno.
    /// - Parameters:
    ///   - folder: A descriptor of the folder; an `O_PATH` one too.
    ///   - buffer: Receives the value.
    package static func read(
        _ attribute: String, of name: FileName, in folder: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        isDirect ? direct(attribute, name, folder, buffer) : byPath(attribute, name, folder, buffer)
    }

    /// Whether the kernel has getxattrat(2), which takes a third of the time of a path through `/proc`.
    static let isDirect: Bool = {
        // Linux 6.13 finds that the descriptor is none; older kernels, and filters, don't know the call.
        let nothing = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return direct("user.none", FileName("none"), -1, nothing) < 0 && errno == EBADF
    }()

    static func direct(
        _ attribute: String, _ name: FileName, _ folder: Int32, _ buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        var args = cl_xattr_args()
        args.value = UInt64(UInt(bitPattern: buffer.baseAddress))
        args.size = UInt32(clamping: buffer.count)
        return name.withCString { name in
            attribute.withCString { attribute in
                withUnsafePointer(to: args) { args in
                    cl_call_at(
                        Int(CL_SYS_GETXATTRAT), folder, name, UInt(AT_SYMLINK_NOFOLLOW), UInt(bitPattern: attribute),
                        UInt(bitPattern: args), UInt(MemoryLayout<cl_xattr_args>.size))
                }
            }
        }
    }

    static func byPath(
        _ attribute: String, _ name: FileName, _ folder: Int32, _ buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        FileName(bytes: Array("\(CL_DESCRIPTORS)\(folder)/".utf8) + name.bytes).withCString { path in
            lgetxattr(path, attribute, buffer.baseAddress, buffer.count)
        }
    }
}
