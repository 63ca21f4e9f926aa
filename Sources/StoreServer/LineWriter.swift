import Dispatch
import Foundation
import Glibc

/// Writes lines in order, never on the caller's thread.
final class LineWriter: Sendable {
    private let queue = DispatchQueue(label: "replica.lines")
    private let file: Int32

    init(_ file: Int32) {
        self.file = file
    }

    func write(_ line: some Encodable & Sendable) {
        queue.async { [file] in
            // Every line can be encoded as JSON. If writing fails, the daemon is gone.
            guard var bytes = try? JSONEncoder().encode(line) else { return }
            bytes.append(UInt8(ascii: "\n"))
            bytes.withUnsafeBytes { buffer in
                var done = 0
                while done < buffer.count {
                    let count = Glibc.write(file, buffer.baseAddress?.advanced(by: done), buffer.count - done)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return }
                    done += count
                }
            }
        }
    }

    /// Returns when everything is written.
    func flush() { queue.sync {} }
}
