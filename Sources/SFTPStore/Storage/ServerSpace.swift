import ReplicaModel

/// The space of a server: the answer to `statvfs@openssh.com`.
struct ServerSpace {
    /// `SSH_FXE_STATVFS_ST_RDONLY` in `f_flag` (PROTOCOL of OpenSSH).
    private static let readOnlyFlag: UInt64 = 1

    let isFull: Bool
    let isReadOnly: Bool
    /// Nil if the server reports no size.
    let usage: StoreUsage?

    /// Nil if it is not valid.
    init?(_ reply: ArraySlice<UInt8>) {
        var reader = FieldReader(reply)
        do throws(MalformedPacket) {
            // f_bsize, f_frsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail, f_fsid, f_flag, f_namemax
            var values: [UInt64] = []
            for _ in 0..<11 { values.append(try reader.uint64()) }
            // Less than two packets of content, or no free inode.
            let room = values[4].multipliedReportingOverflow(by: max(values[1], 1))
            isFull = !room.overflow && room.partialValue < 512 << 10 || values[5] > 0 && values[7] == 0
            isReadOnly = values[9] & Self.readOnlyFlag != 0
            usage = StoreUsage(blocks: values[2], free: values[3], available: values[4], of: max(values[1], 1))
        } catch {
            return nil
        }
    }
}
