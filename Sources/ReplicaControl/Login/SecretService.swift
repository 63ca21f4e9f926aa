import Glibc

/// The Secret Service of a person's session (org.freedesktop.secrets), by `secret-tool` of libsecret: a keyring of the desktop, which is
/// encrypted and opened when they log in. Secrets pass by pipes, never by arguments.
package enum SecretService {
    /// Seconds for it to answer; while a person is asked to open the keyring, more.
    private static let (seconds, patience) = (10.0, 120.0)
    private static let programs = ["/usr/bin/secret-tool", "/usr/local/bin/secret-tool"]

    /// Whether this user has one that answers. Root has none: what root mounts at boot has no session.
    package static var isThere: Bool {
        guard geteuid() != 0, case .success(let result) = run(["lookup"], "", seconds: seconds) else { return false }
        return result.status == 0 || result.errors.isEmpty
    }

    /// Keeps a text, instead of one that is kept for the place already.
    package static func keep(_ text: String, for place: String) throws(SecretError) {
        let label = ["store", "--label=replica: \(place)"]
        _ = try checked(run(label, place, input: text, seconds: patience), isFound: { $0.status == 0 })
    }

    /// - Returns: Nil if there is nothing.
    package static func find(_ place: String) throws(SecretError) -> String? {
        // It says nothing where it finds nothing.
        let result = try checked(run(["lookup"], place, seconds: patience)) { $0.status == 0 || $0.errors.isEmpty }
        return result.status == 0 ? result.output : nil
    }

    /// Removes what is kept for a place.
    package static func forget(_ place: String) throws(SecretError) {
        _ = try checked(run(["clear"], place, seconds: patience)) { $0.status == 0 || $0.errors.isEmpty }
    }

    /// Whether it has one. Nobody is asked to open the keyring.
    package static func has(_ place: String) throws(SecretError) -> Bool {
        let result = try checked(run(["search"], place, seconds: seconds)) { $0.status == 0 || $0.errors.isEmpty }
        return !result.output.isEmpty
    }

    private static func checked(
        _ outcome: Result<BoundedProgram.Result, SecretError>, isFound: (BoundedProgram.Result) -> Bool
    ) throws(SecretError) -> BoundedProgram.Result {
        let result = try outcome.get()
        guard isFound(result) else {
            let line = result.errors.split(separator: "\n").last ?? "it ended with \(result.status)"
            throw SecretError(message: "the Secret Service can't be used: \(line.replacing("secret-tool: ", with: ""))")
        }
        return result
    }

    private static func run(
        _ words: [String], _ place: String, input: String = "", seconds: Double
    ) -> Result<BoundedProgram.Result, SecretError> {
        guard let program = programs.first(where: { access($0, X_OK) == 0 }) else {
            return .failure(SecretError(message: "secret-tool is not installed (libsecret-tools)"))
        }
        let all = words + ["application", "replica", "store", place]
        let result = BoundedProgram.run(
            program, all.map { Array($0.utf8) }, seconds: seconds, environment: environment, input: Array(input.utf8))
        return result.map { .success($0) } ?? .failure(SecretError(message: "the Secret Service does not answer"))
    }

    /// What finds the session's bus.
    private static var environment: [String: String] {
        ["HOME", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].reduce(into: [:]) { found, name in
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
    }
}
