import Glibc
package import SystemPackage

/// The login that a domain used last, recorded in its state: `STATE/login` contains the place of that login. If the domain's URL names no
/// user, and logins of several users are saved for its server later, the domain keeps using this one.
package enum DomainLogin {
    private static let name = "login"
    /// The maximum size of a place, in bytes.
    private static let longest = 4_096

    /// The place; nil if none is recorded.
    package static func place(state: FilePath) -> String? {
        // If it can't be read, a login is chosen again, or the user has to choose.
        guard let bytes = try? FileBytes.readIfPresent(state.appending(name), limit: longest) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Records it atomically. If that fails, it is recorded the next time.
    package static func note(_ place: String, state: FilePath) {
        guard place != self.place(state: state), place.utf8.count <= longest else { return }
        let fresh = state.appending("\(name).new")
        unlink(fresh.string)
        do throws(Errno) { try SecretFile.make(fresh.string, place) } catch { return }
        rename(fresh.string, state.appending(name).string)
    }
}
