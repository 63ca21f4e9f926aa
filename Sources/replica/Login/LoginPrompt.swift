import Glibc
import ReplicaControl

/// Asks at the terminal for the login that a store requires.
enum LoginPrompt {
    /// - Throws: `usage` if there is no terminal, `interrupted` if the user gives up.
    static func ask(_ url: StoreURL) throws -> StoreLogin {
        guard let place = LoginPlace(url) else { throw ControlFailure(.badStore, none(url)) }
        let terminal = try Terminal()
        switch url.scheme {
        case "dav", "davs": return try webDAV(url, place, terminal)
        case "s3":
            let secrets = [
                "access_key": try terminal.answer("Access key: "),
                "secret_key": try terminal.secret("Secret key: "),
                "session_token": try terminal.secret("Session token, if the keys have one: ", mayBeEmpty: true),
            ]
            return StoreLogin(secrets: secrets.filter { !$0.value.isEmpty }, place: place, store: url.text)
        case "rclone":
            let password = try terminal.secret("Password of rclone's configuration: ")
            return StoreLogin(secrets: ["password": password], place: place, store: url.text)
        default: return try other(url, place, terminal)
        }
    }

    private static func webDAV(_ url: StoreURL, _ place: LoginPlace, _ terminal: Terminal) throws -> StoreLogin {
        var user = place.userName
        guard user != nil || place.user == nil else { throw ControlFailure(.badStore, "the URL's user is not valid") }
        if user == nil { user = try terminal.answer("User (empty for a token): ", mayBeEmpty: true) }
        guard let user, !user.isEmpty else {
            return StoreLogin(secrets: ["token": try terminal.secret("Token: ")], place: place, store: url.text)
        }
        let secrets = ["user": user, "password": try terminal.secret("Password of \(user): ")]
        return StoreLogin(secrets: secrets, place: place, store: url, user: user)
    }

    /// For a store program that names its secrets itself.
    private static func other(_ url: StoreURL, _ place: LoginPlace, _ terminal: Terminal) throws -> StoreLogin {
        var secrets: [String: String] = [:]
        while true {
            let name = try terminal.answer(
                "Name of \(secrets.isEmpty ? "a" : "another") secret, as password (empty: no more): ", mayBeEmpty: true)
            if name.isEmpty { break }
            guard !name.contains("="), name.first != "#", name.first != "[", name.first != " " else {
                terminal.say("A name can't contain '=' or begin with '#', '[' or a space.\n")
                continue
            }
            secrets[name] = try terminal.secret("\(name): ")
        }
        guard !secrets.isEmpty else { throw ControlFailure(.interrupted, "no login was saved") }
        return StoreLogin(secrets: secrets, place: place, store: url.text)
    }

    /// The message for a store without a login.
    static func none(_ url: StoreURL) -> String {
        url.scheme == "sftp"
            ? "ssh logs in by itself, by a key: there is no login to save for \(url)" : "\(url) has no login"
    }
}
