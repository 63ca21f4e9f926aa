internal import Foundation
internal import Glibc

/// A server program that runs until its standard input ends, which happens when the tests end in any way.
package final class ServingProgram: Sendable {
    /// The values that it printed before it was ready, by name.
    package let values: [String: String]
    // Kept open: closing it ends the program.
    private let input: FileHandle
    private let process: Int32

    /// - Parameters:
    ///   - name: A file next to that of the test.
    ///   - arguments: Its arguments.
    package init(_ name: String, _ arguments: [String] = [], of test: String = #filePath) throws {
        let program = Process()
        program.executableURL = URL(filePath: test).deletingLastPathComponent().appending(path: name)
        program.arguments = arguments
        let (input, output) = (Pipe(), Pipe())
        program.standardInput = input
        program.standardOutput = output
        try program.run()
        // Otherwise other programs started by tests would keep it alive.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        self.input = input.fileHandleForWriting
        process = program.processIdentifier
        var (values, text) = ([String: String](), "")
        while !text.contains("READY\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw BrokenPromise("\(name) ended before it was ready: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
        for line in text.split(separator: "\n") {
            let pair = line.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { values[pair[0]] = pair[1] }
        }
        self.values = values
    }

    /// Ends it.
    package func stop() throws { try input.close() }
}
