import Foundation
import Glibc

/// A program's output and exit code.
struct ProgramResult {
    /// Exit code, or minus the signal that ended it.
    var code: Int32
    /// Standard output.
    var output: String
    /// Standard error.
    var errors: String
}

/// Runs a program to its end, with no standard input, and collects what it says. The output goes through files, so a
/// program that leaves a child behind doesn't block this. It only sees domains in the given XDG_DATA_HOME, never the
/// machine's own.
func run(
    _ program: String, _ arguments: String..., environment: [String: String] = [:]
) async throws -> ProgramResult {
    try await run(program, arguments, environment: environment)
}

/// Runs something with no signals blocked, because child processes inherit the mask: Dispatch's threads block nearly
/// all signals, and a program that blocks SIGTERM can't be terminated.
private func hearingSignals(_ body: () throws -> Void) rethrows {
    var (none, before) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try body()
}

/// The same with an array of arguments.
func run(_ program: String, _ arguments: [String], environment: [String: String] = [:]) async throws -> ProgramResult {
    let folder = FileManager.default.temporaryDirectory.appending(path: "replica-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { do { try FileManager.default.removeItem(at: folder) } catch {} }
    let files = try ["out", "err"].map { name in
        let path = folder.appending(path: name)
        try Data().write(to: path)
        return try FileHandle(forUpdating: path)
    }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_DATA_HOME": folder.path]) { $1 }
        .merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = files[0]
    process.standardError = files[1]
    // Suspends instead of blocking: a blocked pool of two threads could not run an in-process server.
    let _: Void = try await withCheckedThrowingContinuation { continuation in
        process.terminationHandler = { _ in continuation.resume() }
        do { try hearingSignals(process.run) } catch { continuation.resume(throwing: error) }
    }
    let texts = try files.map { file in
        try file.seek(toOffset: 0)
        return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
    let code = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    return ProgramResult(code: code, output: texts[0], errors: texts[1])
}
