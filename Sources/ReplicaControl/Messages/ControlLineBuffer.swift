/// Splits a stream of bytes into lines.
package struct ControlLineBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var searched = 0

    package init() {}

    /// Appends bytes.
    package mutating func append(_ more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Removes and returns the next complete line, without its newline; nil if there is none yet.
    /// Throws `wrongProtocol` if a line is longer than ``ControlCodec/longest``.
    package mutating func next() throws(ControlFailure) -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = bytes.count
            if bytes.count > ControlCodec.longest { throw ControlFailure(.wrongProtocol, "the line is too long") }
            return nil
        }
        let line = Array(bytes[..<end])
        bytes.removeSubrange(...end)
        searched = 0
        return line
    }
}
