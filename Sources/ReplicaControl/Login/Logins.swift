import Glibc
package import SystemPackage

/// The logins that `replica login` keeps: in the Secret Service where the user has one, else in a file that only they can read. The file
/// lists both kinds.
package struct Logins {
    /// Where a login is kept.
    package enum Keeper: Equatable, Sendable {
        case secretService
        /// And why not in the Secret Service, if there is one.
        case file(FilePath, refusal: String?)
    }

    /// What is to be seen of a login without asking for it.
    package enum Sight: Equatable, Sendable {
        case none
        case kept(Keeper)
        case unusable(String)
    }

    /// A folder that only its owner can write to.
    private let folder: FilePath
    /// The file.
    package var path: FilePath { folder.appending(".logins") }
    private var name: String { path.string }

    /// - Parameter folder: Where the domains are.
    package init(folder: FilePath) {
        self.folder = folder
    }

    /// Those of this process's user; nil where no home is to be found.
    package static var own: Logins? {
        let environment = ["XDG_DATA_HOME", "HOME"].reduce(into: [String: String]()) { found, name in
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
        return DomainDirectory.searchPath(environment: environment).first.map { Logins(folder: $0.root) }
    }

    private func table() throws(SecretError) -> LoginTable {
        guard access(path.string, F_OK) == 0 || errno != ENOENT else { return LoginTable() }
        let file = try SecretFile(path, called: name)
        defer { file.close() }
        return try LoginTable(file.text(), called: name)
    }

    /// The place under which there is a login for one: itself, or, where no user is named, the only one of a user there.
    private func kept(_ place: LoginPlace, in table: LoginTable) throws(SecretError) -> String? {
        if table.entries[place.text] != nil { return place.text }
        let others = table.entries.keys.filter(place.takes)
        guard others.count < 2 else {
            let all = others.sorted().joined(separator: ", ")
            throw SecretError(message: "there are several logins for \(place): write the user into the URL (\(all))")
        }
        return others.first
    }

    private static func missing(_ place: String) -> SecretError {
        SecretError(message: "the Secret Service has no login for \(place) any more: replica login asks for it again")
    }

    // MARK: Using them

    /// The secrets for a store; none where none are kept. A person may be asked to open the keyring.
    /// - Throws: Why what is kept can't be had, in one line.
    package func secrets(for url: StoreURL) throws(SecretError) -> [String: String] {
        guard let place = LoginPlace(url) else { return [:] }
        let table = try table()
        guard let text = try kept(place, in: table), let entry = table.entries[text] else { return [:] }
        if case .secrets(let secrets) = entry { return secrets }
        guard let found = try SecretService.find(text) else { throw Self.missing(text) }
        return try SecretFile.secrets(in: found, called: "the login for \(text)")
    }

    /// What is to be seen of a store's login; nobody is asked anything.
    package func sight(of url: StoreURL) -> Sight {
        guard let place = LoginPlace(url) else { return .none }
        do throws(SecretError) {
            let table = try table()
            guard let text = try kept(place, in: table), let entry = table.entries[text] else { return .none }
            guard entry == .elsewhere else { return .kept(.file(path, refusal: nil)) }
            guard try SecretService.has(text) else { throw Self.missing(text) }
            return .kept(.secretService)
        } catch {
            return .unusable(error.message)
        }
    }

    // MARK: Changing them

    /// Keeps a login, instead of one that is kept for the place already.
    package func keep(_ secrets: [String: String], for place: LoginPlace) throws -> Keeper {
        try changing { table in
            var refusal: String?
            if SecretService.isThere {
                let lines = secrets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }
                do throws(SecretError) {
                    try SecretService.keep(lines.joined(), for: place.text)
                    table.entries[place.text] = .elsewhere
                    return .secretService
                } catch {
                    refusal = error.message
                }
            }
            // Nor is what was there before left behind.
            if table.entries[place.text] == .elsewhere { try? SecretService.forget(place.text) }
            table.entries[place.text] = .secrets(secrets)
            return .file(path, refusal: refusal)
        }
    }

    /// Forgets the login for a place.
    /// - Returns: The place that it was kept for; nil if there was none.
    package func forget(_ place: LoginPlace) throws -> String? {
        guard access(path.string, F_OK) == 0 || errno != ENOENT else { return nil }
        return try changing { table in
            guard let text = try kept(place, in: table) else { return nil }
            if table.entries[text] == .elsewhere { try SecretService.forget(text) }
            table.entries[text] = nil
            return text
        }
    }

    /// One at a time.
    private func changing<Value>(_ body: (inout LoginTable) throws -> Value) throws -> Value {
        try makeFolder()
        let lock = open(folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw Errno(rawValue: errno) }
        defer { close(lock) }
        var table = try table()
        let value = try body(&table)
        try write(table)
        fsync(lock)
        return value
    }

    private func makeFolder() throws {
        var missing: [FilePath] = []
        var path = folder
        while mkdir(path.string, 0o700) != 0, errno != EEXIST {
            guard errno == ENOENT, path.removeLastComponent(), missing.count < 64 else { throw Errno(rawValue: errno) }
            missing.append(path)
        }
        if !missing.isEmpty { try makeFolder() }
    }

    private func write(_ table: LoginTable) throws {
        if table.entries.isEmpty {
            guard unlink(path.string) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
            return
        }
        let new = folder.appending(".logins.new")
        // Of a command that was killed.
        unlink(new.string)
        let file = try FileDescriptor.open(
            new, .writeOnly, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
            permissions: [.ownerReadWrite])
        do {
            try file.closeAfter {
                _ = try file.writeAll(table.text.utf8)
                guard fsync(file.rawValue) == 0, rename(new.string, path.string) == 0 else {
                    throw Errno(rawValue: errno)
                }
            }
        } catch {
            unlink(new.string)
            throw error
        }
    }
}
