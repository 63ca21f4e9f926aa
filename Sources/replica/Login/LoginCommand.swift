import ArgumentParser
import ChildProcess
import Glibc
import ReplicaControl
import SystemPackage

/// `replica login`.
struct Login: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep a store's login: a password or keys, which are asked for without being shown.",
        discussion: """
            It is kept in the Secret Service (the keyring of the desktop) if there is one, otherwise in a file that only \
            its owner can read, and is found for all folders of the server or bucket. For the https:// address of a \
            Nextcloud server, access is granted on its own page.
            """)

    @Argument(help: "The store's URL, or the address of a Nextcloud server: https://cloud.example.org.")
    var url: String
    @Argument(
        help: "A new file to keep it in instead, which only its owner can read: for --credentials.",
        completion: .path)
    var file: String?

    func run() throws {
        PrivateMemory.close()
        let isPage = ["https://", "http://"].contains { url.lowercased().hasPrefix($0) }
        guard let file else {
            let login = try isPage ? GrantedLogin.ask(url).login() : LoginPrompt.ask(Self.store(url))
            return try keep(login)
        }
        let path = try AbsolutePath.ofEntry(RawArguments.bytes(file))
        // Before the user is asked: an existing file is not replaced.
        let output = try NewSecretFile(path)
        let login = try isPage ? GrantedLogin.ask(url).login() : LoginPrompt.ask(Self.store(url))
        try output.write(login.secrets)
        Output.line("The login is in \(Format.path(path)).")
        hint(login, " --credentials \(ShellWord.quoted(path))")
    }

    private func keep(_ login: StoreLogin) throws {
        guard let logins = Logins.own else { throw ControlFailure(.failed, "there is no home directory") }
        switch try logins.keep(login.secrets, for: login.place) {
        case .secretService: Output.line("The login for \(login.place) is in the Secret Service.")
        case .file(let path, let refusal):
            if let refusal { Output.complain(refusal) }
            Output.line("The login for \(login.place) is in \(path), which only its owner can read.")
        }
        hint(login, "")
    }

    private func hint(_ login: StoreLogin, _ option: String) {
        let store = ShellWord.quoted(Array(login.store.utf8))
        Output.line("Now: replica add NAME --store \(store)\(option)")
    }

    static func store(_ text: String) throws -> StoreURL {
        do { return try StoreURL(text) } catch { throw ControlFailure(.badStore, "\(error)") }
    }
}
