import ChildProcess
import Glibc

/// The Secret Service of a user's session (org.freedesktop.secrets), by `secret-tool` of libsecret: a keyring of the desktop, which is
/// encrypted and opened when they log in. Secrets pass by pipes, never by arguments.
package struct SecretService: Sendable {
    /// Whether there is one.
    enum Presence: Equatable {
        case absent
        /// There is one that can't be used, and why.
        case silent(String)
        case answers
    }

    /// That of this process's session.
    package static let session = SecretService()

    /// Seconds for it to answer; more while the user is prompted to unlock the keyring.
    private static let (answerSeconds, promptSeconds) = (10.0, 120.0)
    private static let programs = ["/usr/bin/secret-tool", "/usr/local/bin/secret-tool"]

    /// Root has none: what root mounts at boot has no session.
    var presence: Presence {
        guard geteuid() != 0, let program = Self.program else { return .absent }
        guard let result = run(program, ["lookup"], "", seconds: Self.answerSeconds) else {
            return .silent(Self.silence.message)
        }
        return result.status == 0 || result.errors.isEmpty ? .answers : .absent
    }

    /// Keeps a login, instead of one that is kept for the place already.
    /// - Throws: Also if something else is kept than was said.
    func keep(_ secrets: [String: String], for place: String) throws(SecretError) {
        let text = try SecretLines.text(of: secrets)
        let label = ["store", "--label=replica: \(place)"]
        _ = try checked(label, place, input: text, seconds: Self.promptSeconds) { $0.status == 0 }
        guard let found = try find(place), try SecretLines.secrets(in: found, called: "it") == secrets else {
            try clear(place)
            throw SecretError(message: "the Secret Service did not store the login unchanged")
        }
    }

    /// - Parameter mayAsk: Whether the user may be prompted to unlock the keyring, for which there are two minutes.
    /// - Returns: Nil if there is nothing.
    func find(_ place: String, mayAsk: Bool = true) throws(SecretError) -> String? {
        if !mayAsk, try !hasOpen(place) { return nil }
        // It says nothing where it finds nothing.
        let result = try checked(["lookup"], place, seconds: Self.promptSeconds) { $0.status == 0 || $0.errors.isEmpty }
        return result.status == 0 ? result.output : nil
    }

    /// Removes what is kept for a place. The user may be prompted to unlock the keyring, because only what is open can be removed.
    func forget(_ place: String) throws(SecretError) {
        try clear(place)
        guard try has(place) else { return }
        _ = try find(place)
        try clear(place)
        if try has(place) { throw Self.closed(place) }
    }

    private func clear(_ place: String) throws(SecretError) {
        _ = try checked(["clear"], place, seconds: Self.promptSeconds) { $0.status == 0 || $0.errors.isEmpty }
    }

    /// Whether it has one. Nobody is asked to open the keyring.
    func has(_ place: String) throws(SecretError) -> Bool { try !search(place).isEmpty }

    /// Whether it has one that can be read without asking anybody.
    private func hasOpen(_ place: String) throws(SecretError) -> Bool {
        try search(place).split(separator: "\n").contains { $0.hasPrefix("secret = ") }
    }

    /// The program's description of what is kept for a place; nothing if there is none. Of a locked one it has no secret.
    private func search(_ place: String) throws(SecretError) -> String {
        try checked(["search"], place, seconds: Self.answerSeconds) { $0.status == 0 || $0.errors.isEmpty }.output
    }

    /// Why nothing is found for a place that is listed.
    func absence(of place: String) throws(SecretError) -> SecretError {
        if try has(place) { return Self.closed(place) }
        return SecretError(
            message: "the Secret Service has no login for \(place) any more: replica login asks for it again")
    }

    private static func closed(_ place: String) -> SecretError {
        SecretError(message: "the Secret Service can't be used: the keyring with the login for \(place) is locked")
    }

    private static var silence: SecretError { SecretError(message: "the Secret Service does not answer") }

    // MARK: The program

    private static var program: String? { programs.first { access($0, X_OK) == 0 } }

    private func checked(
        _ words: [String], _ place: String, input: String = "", seconds: Double,
        isFound: (BoundedProgram.Result) -> Bool
    ) throws(SecretError) -> BoundedProgram.Result {
        guard let program = Self.program else {
            throw SecretError(message: "secret-tool is not installed (libsecret-tools)")
        }
        guard let result = run(program, words, place, input: input, seconds: seconds) else { throw Self.silence }
        guard isFound(result) else {
            let line = result.errors.split(separator: "\n").last ?? "it exited with status \(result.status)"
            throw SecretError(message: "the Secret Service can't be used: \(line.replacing("secret-tool: ", with: ""))")
        }
        return result
    }

    private func run(
        _ program: String, _ words: [String], _ place: String, input: String = "", seconds: Double
    ) -> BoundedProgram.Result? {
        // Some of its answers contain secrets.
        PrivateMemory.close()
        let all = words + ["application", "replica", "store", place]
        return BoundedProgram.run(
            program, all.map { Array($0.utf8) }, seconds: seconds, environment: Self.environment,
            input: Array(input.utf8))
    }

    /// What finds the session's bus.
    private static var environment: [String: String] {
        ["HOME", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].reduce(into: [:]) { found, name in
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
    }
}
