import Glibc
import ReplicaControl
import SystemPackage

/// A login that the user entered.
struct StoreLogin {
    let secrets: [String: String]
    let place: LoginPlace
    /// The URL of its store.
    let store: String

    init(secrets: [String: String], place: LoginPlace, store: String) {
        (self.secrets, self.place, self.store) = (secrets, place, store)
    }

    /// With its user in the URL: a login of another user on the server may be saved later.
    init(secrets: [String: String], place: LoginPlace, store: StoreURL, user: String) {
        let named = place.of(user: user)
        let beginning = StoreURL.beginning(of: store.scheme)
        let text = place.user == nil ? "\(beginning)\(named.user ?? "")@\(store.rest)" : store.text
        self.init(secrets: secrets, place: named, store: text)
    }
}

/// A new file for a login.
struct NewSecretFile {
    private let path: [CChar]
    private let name: String

    /// - Throws: If it exists, or can't be created. It is created when it is written.
    init(_ path: [UInt8]) throws {
        self.path = path.map { CChar(bitPattern: $0) } + [0]
        name = String(decoding: path, as: UTF8.self)
        var status = stat()
        if lstat(self.path, &status) == 0 { throw failure(EEXIST) }
        var folder = path
        while let last = folder.popLast(), last != UInt8(ascii: "/") {}
        guard access((folder + "/".utf8).map { CChar(bitPattern: $0) } + [0], W_OK | X_OK) == 0 else {
            throw failure(errno)
        }
    }

    private func failure(_ error: Int32) -> ControlFailure {
        ControlFailure(.failed, "\(name): \(Errno(rawValue: error))")
    }

    /// Creates it, with lines of `name=value`.
    func write(_ secrets: [String: String]) throws {
        let text = try SecretLines.text(of: secrets)
        do throws(Errno) { try SecretFile.make(path, text) } catch { throw failure(error.rawValue) }
    }
}
