import Glibc
import ReplicaControl
import SystemPackage

/// A login that a Nextcloud server grants, as its store's program prints it.
struct GrantedLogin: Decodable {
    let store: String
    let user: String
    let password: String

    /// Waits until the user grants access on the server's page.
    static func ask(_ url: String) throws -> GrantedLogin {
        let search = StoreProgramSearch.own
        guard let program = search.installed().first(where: { $0.scheme == "davs" })?.path.string else {
            throw ControlFailure(.badStore, "there is no \(StoreProgramSearch.program(of: "davs")) in \(search.words)")
        }
        let (line, code) = try MountProgram.run(program, ["--login", url].map { Array($0.utf8) }, readsOutput: true)
        // It has printed the reason.
        guard code == 0 else { throw ExitReason.failed }
        do { return try ControlCodec.decode(GrantedLogin.self, from: line) } catch {
            throw ControlFailure(.failed, "\(program) does not say what was granted")
        }
    }

    func login() throws -> StoreLogin {
        let url = try StoreURL(store)
        guard let place = LoginPlace(url) else { throw ControlFailure(.badStore, "the server names no store") }
        return StoreLogin(secrets: ["user": user, "password": password], place: place, store: url, user: user)
    }
}
