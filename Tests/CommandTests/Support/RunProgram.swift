import Foundation
import Glibc

/// What a program said and how it ended.
struct ProgramResult {
    /// Exit code, or minus the signal that ended it.
    var code: Int32
    /// Standard output.
    var output: String
    /// Standard error.
    var errors: String
}

/// Runs a program to its end, with no standard input, and collects what it says.
/// The output goes through files, so a program that leaves a child behind can't make this wait. It has no domains but
/// those of the XDG_DATA_HOME that is given here: never the machine's own.
func run(
    _ program: String, _ arguments: String..., environment: [String: String] = [:]
) async throws -> ProgramResult {
    try await run(program, arguments, environment: environment)
}

/// Does something with no signal blocked, which what it starts inherits: Dispatch's threads block nearly all, and a program
/// that is deaf to SIGTERM can't be told to end.
private func hearingSignals(_ body: () throws -> Void) rethrows {
    var (none, before) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try body()
}

/// As above, for arguments that are in an array.
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
