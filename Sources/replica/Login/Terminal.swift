import Glibc
import ReplicaControl
import SystemPackage

/// The terminal of the user.
final class Terminal {
    private let descriptor: Int32

    private static let (interrupt, end, erase, kill): (UInt8, UInt8, Set<UInt8>, UInt8) = (3, 4, [8, 127], 21)

    /// - Throws: `usage` if there is none.
    init() throws(ControlFailure) {
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw ControlFailure(.usage, "there is no terminal to ask at: write a file, and pass it as --credentials")
        }
    }

    deinit { close(descriptor) }

    func say(_ text: String) {
        // If the terminal is gone, reading the answer fails.
        _ = try? FileDescriptor(rawValue: descriptor).writeAll(text.utf8)
    }

    /// Reads a line with echo.
    func answer(_ question: String, mayBeEmpty: Bool = false) throws -> String {
        try ask(question, mayBeEmpty) {
            var bytes: [UInt8] = []
            while let byte = try self.next(), byte != UInt8(ascii: "\n") { bytes.append(byte) }
            return bytes
        }
    }

    /// Reads a line without echo.
    func secret(_ question: String, mayBeEmpty: Bool = false) throws -> String {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { throw Errno(rawValue: errno) }
        var silent = modes
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        let signals = HeldSignals()
        defer { signals.release() }
        // Input typed before the question was echoed already, so it is dropped.
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { throw Errno(rawValue: errno) }
        defer { tcsetattr(descriptor, TCSADRAIN, &modes) }
        return try ask(question, mayBeEmpty) {
            defer { self.say("\n") }
            return try self.silentLine {
                guard signals.isOneWaiting else { return }
                tcsetattr(self.descriptor, TCSADRAIN, &modes)
                self.say("\n")
                signals.release()
                // It was stopped, and continues.
                signals.hold()
                tcsetattr(self.descriptor, TCSAFLUSH, &silent)
                self.say(question)
            }
        }
    }

    private func ask(_ question: String, _ mayBeEmpty: Bool, _ read: () throws -> [UInt8]) throws -> String {
        while true {
            say(question)
            let bytes = try read()
            guard let text = String(validating: bytes, as: UTF8.self), !SecretLines.hasControl(text) else {
                say("That contains control characters.\n")
                continue
            }
            if mayBeEmpty || !text.isEmpty { return text }
        }
    }

    /// A line, edited as the terminal itself would.
    /// - Parameter wait: Called repeatedly while there is no input.
    private func silentLine(_ wait: () -> Void) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            var typed = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            repeat { wait() } while poll(&typed, 1, 100) == 0
            guard let byte = try next() else { break }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return bytes
            case Self.interrupt: throw ControlFailure(.interrupted, "no login was saved")
            case Self.end where bytes.isEmpty: throw ControlFailure(.interrupted, "no login was saved")
            case Self.kill: bytes = []
            case _ where Self.erase.contains(byte):
                while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    /// Nil at the end.
    private func next() throws -> UInt8? {
        var byte: UInt8 = 0
        var count = 0
        repeat { count = read(descriptor, &byte, 1) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw Errno(rawValue: errno) }
        if count == 0 { throw ControlFailure(.interrupted, "no login was saved") }
        return byte
    }
}
