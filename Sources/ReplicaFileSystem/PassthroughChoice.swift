/// Whether the kernel reads and writes a file directly (passthrough), decided at the first open of its inode. The
/// reasons and the measurements are in docs/decisions/small-files.md.
enum PassthroughChoice {
    /// The minimum size in bytes at which the round trip to `replica-passthrough` pays off for a file that is opened
    /// for reading. The kernel reads a smaller file with a single request.
    static let leastForReading: Int64 = 128 << 10

    /// - Parameters:
    ///   - size: In bytes, at this open.
    ///   - isWhole: Whether all content is local.
    ///   - hasSetID: Whether it has set-ID bits: the kernel writes with the daemon's rights and would clear them for
    ///     every writer.
    ///   - byProgram: Whether registering the file is a round trip to another program instead of an ioctl(2).
    static func registers(size: Int64, isWriter: Bool, isWhole: Bool, hasSetID: Bool, byProgram: Bool) -> Bool {
        guard isWhole, !hasSetID else { return false }
        // A writer may write any amount, and the decision holds until the last close.
        return !byProgram || isWriter || size >= leastForReading
    }
}
