import Glibc
import ReplicaControl

/// Prints lines for users, or one line of JSON per object.
enum Output {
    /// A line on standard output, always one: it may contain names and texts of a store, or of the user.
    static func line(_ text: String) {
        write(Array("\(Format.line(text))\n".utf8), to: 1)
    }

    /// A text of this program's own on standard output, of several lines.
    static func document(_ text: String) {
        write(Array("\(text)\n".utf8), to: 1)
    }

    /// One line of JSON on standard output.
    static func json(_ value: some Encodable) throws {
        write(try ControlCodec.encode(value), to: 1)
    }

    /// A line with a path: escaped for a terminal, otherwise byte by byte.
    static func path(_ bytes: [UInt8]) {
        if isatty(1) == 1 { return line(Format.path(bytes)) }
        write(bytes + [UInt8(ascii: "\n")], to: 1)
    }

    /// A question on standard error, without an end of line.
    static func question(_ text: String) {
        write(Array(Format.line(text).utf8), to: 2)
    }

    /// Progress on standard error, as it is: it returns to the beginning of its line.
    static func progress(_ text: String) {
        write(Array(text.utf8), to: 2)
    }

    /// `replica: MESSAGE` on standard error, always in one line.
    static func complain(_ message: String) {
        ProgressLine.fail()
        write(Array("replica: \(Format.path(Array(message.utf8)))\n".utf8), to: 2)
    }

    /// Writes everything; if the reader is gone, SIGPIPE terminates the program as usual. A program that could not print what it
    /// was asked for has failed.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 {
                guard descriptor == 1 else { return }
                let reason = String(cString: strerror(errno))
                complain("standard output: \(reason)")
                exit(ExitReason.failed.rawValue)
            }
            rest.removeFirst(count)
        }
    }
}
