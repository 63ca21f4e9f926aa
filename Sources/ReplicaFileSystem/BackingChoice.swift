/// Whether the kernel is to read and write a file by itself, decided at the first open of its inode. The reasons and the
/// measurement are in docs/decisions/small-files.md.
enum BackingChoice {
    /// From this size on, in bytes, the round trip to `replica-passthrough` pays for a file that is opened for reading. What is
    /// smaller the kernel reads with one request, and once.
    static let leastForReading: Int64 = 128 << 10

    /// - Parameters:
    ///   - size: In bytes, at this open.
    ///   - isWhole: Whether all content is here.
    ///   - hasSetID: The kernel writes with the daemon's rights, and would take the bits whoever writes.
    ///   - byProgram: Whether to register the file is a round trip to another program, not one ioctl(2).
    static func registers(size: Int64, isWriter: Bool, isWhole: Bool, hasSetID: Bool, byProgram: Bool) -> Bool {
        guard isWhole, !hasSetID else { return false }
        // It is unknown how much a writer will write, and the decision stands until the last close.
        return !byProgram || isWriter || size >= leastForReading
    }
}
