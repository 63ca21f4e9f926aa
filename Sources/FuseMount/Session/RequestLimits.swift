/// The limits of the kernel's requests, which it is told when it connects (INIT).
enum RequestLimits {
    /// How many read-aheads and write-backs may be in flight: parked reads must not block the others.
    static let maxBackground: UInt32 = 1024
    /// The most bytes of one write. libfuse's buffers and ours hold this and the headers.
    static let maxWrite: UInt32 = 1 << 20
}
