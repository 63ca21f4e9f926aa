import ChildProcess
import Glibc

/// The Secret Service of a user's session (org.freedesktop.secrets), through `secret-tool` of libsecret: the desktop's keyring, which is
/// encrypted and unlocked at login. Secrets are passed through pipes, never as arguments.
package struct SecretService: Sendable {
    /// Whether it is available.
    enum Presence: Equatable {
        case absent
        /// It can't be used, with the reason.
        case silent(String)
        case answers
    }

    /// The Secret Service of this process's session.
    package static let session = SecretService()

    /// The timeout of an answer, in seconds; longer while the user is prompted to unlock the keyring.
    private static let (answerSeconds, promptSeconds) = (10.0, 120.0)
    private static let programs = ["/usr/bin/secret-tool", "/usr/local/bin/secret-tool"]

    /// Root has none: a mount at boot has no session.
    var presence: Presence {
        guard geteuid() != 0, let program = Self.program else { return .absent }
        guard let result = run(program, ["lookup"], "", seconds: Self.answerSeconds) else {
            return .silent(Self.silence.message)
        }
        return result.status == 0 || result.errors.isEmpty ? .answers : .absent
    }

    /// Saves a login, replacing an earlier one of the same place.
    /// - Throws: Also if it saved another text than the given one.
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
    /// - Returns: Nil if it has none.
    func find(_ place: String, mayAsk: Bool = true) throws(SecretError) -> String? {
        if !mayAsk, try !hasOpen(place) { return nil }
        // No output means that nothing was found.
        let result = try checked(["lookup"], place, seconds: Self.promptSeconds) { $0.status == 0 || $0.errors.isEmpty }
        return result.status == 0 ? result.output : nil
    }

    /// Removes the login of a place. The user may be prompted to unlock the keyring, because a locked one can't be changed.
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

    /// Whether it has a login, without a prompt to unlock the keyring.
    func has(_ place: String) throws(SecretError) -> Bool { try !search(place).isEmpty }

    /// Whether it has a login that can be read without a prompt.
    private func hasOpen(_ place: String) throws(SecretError) -> Bool {
        try search(place).split(separator: "\n").contains { $0.hasPrefix("secret = ") }
    }

    /// The program's description of the login of a place; empty if there is none. It has no secret if the keyring is locked.
    private func search(_ place: String) throws(SecretError) -> String {
        try checked(["search"], place, seconds: Self.answerSeconds) { $0.status == 0 || $0.errors.isEmpty }.output
    }

    /// Why nothing is found for a listed place.
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
        isFound: (TimeLimitedProgram.Result) -> Bool
    ) throws(SecretError) -> TimeLimitedProgram.Result {
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
    ) -> TimeLimitedProgram.Result? {
        // Some of its answers contain secrets.
        PrivateMemory.close()
        let all = words + ["application", "replica", "store", place]
        return TimeLimitedProgram.run(
            program, all.map { Array($0.utf8) }, seconds: seconds, environment: Self.environment,
            input: Array(input.utf8))
    }

    /// The variables that locate the session's bus.
    private static var environment: [String: String] {
        ["HOME", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].reduce(into: [:]) { found, name in
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
    }
}
