import ArgumentParser
import Glibc
import ReplicaControl
import SystemPackage

/// `replica login`.
struct Login: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Get an app password for this program from a Nextcloud server.")

    @Argument(help: "The server: https://cloud.example.org.")
    var url: String
    @Argument(help: "A new file for the login, which only its owner can read.", completion: .file())
    var file: String

    func run() throws {
        guard let program = StoreSearch.own.installed().first(where: { $0.scheme == "davs" })?.path.string else {
            throw ControlFailure(.badStore, "there is no \(StoreSearch.program(of: "davs")) on this machine")
        }
        let path = try AbsolutePath.ofEntry(RawArguments.bytes(file))
        let words = [program, "--login", url, String(decoding: path, as: UTF8.self)]
        // The store's program asks and prints by itself.
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        execv(program, &arguments)
        throw ControlFailure(.failed, "\(program): \(String(cString: strerror(errno)))")
    }
}
