internal import Glibc
package import SystemPackage

extension UnsafeRawBufferPointer {
    /// Writes all bytes at `offset` of a file: pwrite(2) may write fewer.
    package func writeAll(to file: Int32, at offset: Int64) throws(Errno) {
        var done = 0
        while done < count {
            let written = pwrite(file, baseAddress.map { $0 + done }, count - done, off_t(offset) + off_t(done))
            if written > 0 {
                done += written
            } else if written == 0 {
                throw .ioError
            } else if errno != EINTR {
                throw .last
            }
        }
    }
}
