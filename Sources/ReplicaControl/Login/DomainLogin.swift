import Glibc
package import SystemPackage

/// Which login a domain used last, in its state: `STATE/login` has the place that the login was kept for. If its URL names no user, and
/// logins of more users are kept for its server later, the domain goes on with this one.
package enum DomainLogin {
    private static let name = "login"
    /// Bytes of a place, at most.
    private static let longest = 4_096

    /// The place; nil if none is noted.
    package static func place(state: FilePath) -> String? {
        // What can't be read is chosen again, or the user is told of the choice.
        guard let bytes = try? FileBytes.readIfPresent(state.appending(name), limit: longest) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Notes it, atomically. If that fails, it is noted the next time.
    package static func note(_ place: String, state: FilePath) {
        guard place != self.place(state: state), place.utf8.count <= longest else { return }
        let fresh = state.appending("\(name).new")
        unlink(fresh.string)
        do throws(Errno) { try SecretFile.make(fresh.string, place) } catch { return }
        rename(fresh.string, state.appending(name).string)
    }
}
