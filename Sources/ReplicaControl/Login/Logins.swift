import ChildProcess
import Glibc
package import SystemPackage

/// The logins that `replica login` saves: in the Secret Service if the user has one, otherwise in a file that only the user can read. The
/// file lists both kinds.
package struct Logins {
    /// Where a login is saved.
    package enum Keeper: Equatable, Sendable {
        case secretService
        /// With the reason why not in the Secret Service, if there is one.
        case file(FilePath, refusal: String?)
    }

    /// What is known of a login without reading its secrets.
    package enum State: Equatable, Sendable {
        case none
        case kept(Keeper)
        case unusable(String)
    }

    /// A folder that only its owner can write to.
    private let folder: FilePath
    private let service: SecretService?
    /// How long to wait for another command, in seconds.
    private let lockSeconds: Double
    /// The file.
    package var path: FilePath { folder.appending(LoginFolder.file) }

    /// - Parameters:
    ///   - folder: Where the domains are.
    ///   - service: Preferred to the file if it is available.
    package init(folder: FilePath, service: SecretService?, lockSeconds: Double = 10) {
        (self.folder, self.service, self.lockSeconds) = (folder, service, lockSeconds)
    }

    /// The logins of this process's user; nil if there is no home directory.
    package static var own: Logins? {
        let environment = ["XDG_DATA_HOME", "HOME"].reduce(into: [String: String]()) { found, name in
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
        return DomainDirectory.searchPath(environment: environment).first.map {
            Logins(folder: $0.root, service: .session)
        }
    }

    private func table() throws(SecretError) -> LoginTable {
        PrivateMemory.close()
        guard let folder = try LoginFolder.open(folder) else { return LoginTable() }
        return try folder.table()
    }

    /// The saved place that applies to a place: itself, or if it names no user, the only saved one with a user.
    /// - Parameter last: The place used last, which is chosen if there are several.
    private func kept(_ place: LoginPlace, in table: LoginTable, last: String?) throws(SecretError) -> String? {
        if table.entries[place.text] != nil { return place.text }
        let others = table.entries.keys.filter(place.takes)
        guard others.count < 2 else {
            if let last, others.contains(last) { return last }
            let all = others.sorted().joined(separator: ", ")
            throw SecretError(message: "there are several logins for \(place): write the user into the URL (\(all))")
        }
        return others.first
    }

    /// Where the login of a listed place is saved.
    private func service(of place: String) throws(SecretError) -> SecretService {
        guard let service else {
            throw SecretError(message: "the login for \(place) is in the Secret Service, which is not available")
        }
        return service
    }

    // MARK: Reading

    /// A saved login.
    package struct Kept: Sendable {
        package let secrets: [String: String]
        /// Its place.
        package let place: String
    }

    /// The secrets for a store; empty if none are saved. The user may be prompted to unlock the keyring.
    /// - Throws: If the saved login can't be read: the reason in one line.
    package func secrets(for url: StoreURL) throws(SecretError) -> [String: String] { try find(url)?.secrets ?? [:] }

    /// The login for a store.
    /// - Parameters:
    ///   - last: The place whose login was used last, if that is known.
    ///   - mayAsk: Whether the user may be prompted to unlock the keyring.
    /// - Returns: Nil if none is saved.
    /// - Throws: If the saved login can't be read: the reason in one line.
    package func find(_ url: StoreURL, last: String? = nil, mayAsk: Bool = true) throws(SecretError) -> Kept? {
        guard let place = LoginPlace(url) else { return nil }
        let table = try table()
        guard let text = try kept(place, in: table, last: last), let entry = table.entries[text] else { return nil }
        if case .secrets(let secrets) = entry { return Kept(secrets: secrets, place: text) }
        let service = try service(of: text)
        guard let found = try service.find(text, mayAsk: mayAsk) else { throw try service.absence(of: text) }
        return Kept(secrets: try SecretLines.secrets(in: found, called: "the login for \(text)"), place: text)
    }

    /// What is known of a store's login, without a prompt.
    package func state(of url: StoreURL, last: String? = nil) -> State {
        guard let place = LoginPlace(url) else { return .none }
        do throws(SecretError) {
            let table = try table()
            guard let text = try kept(place, in: table, last: last), let entry = table.entries[text] else {
                return .none
            }
            guard entry == .elsewhere else { return .kept(.file(path, refusal: nil)) }
            let service = try service(of: text)
            guard try service.has(text) else { throw try service.absence(of: text) }
            return .kept(.secretService)
        } catch {
            return .unusable(error.message)
        }
    }

    // MARK: Changing

    /// Saves a login, replacing an earlier one of the same place.
    /// - Throws: If it can't be saved, or could not be read back; the earlier one is unchanged then.
    package func keep(_ secrets: [String: String], for place: LoginPlace) throws(SecretError) -> Keeper {
        _ = try SecretLines.text(of: secrets)
        try LoginFolder.make(folder)
        let keeper = try changing { (folder: LoginFolder, table: inout LoginTable) throws(SecretError) -> Keeper in
            // It must fit into the file even if the Secret Service gets it.
            let old = table.entries[place.text]
            table.entries[place.text] = .secrets(secrets)
            _ = try table.text()
            table.entries[place.text] = old
            return try keep(secrets, for: place.text, folder, &table)
        }
        guard let keeper else { throw SecretError(message: "\(folder) is gone") }
        return keeper
    }

    private func keep(
        _ secrets: [String: String], for place: String, _ folder: LoginFolder, _ table: inout LoginTable
    ) throws(SecretError) -> Keeper {
        let (old, presence) = (table.entries[place], service?.presence ?? .absent)
        var refusal: String?
        if presence == .answers {
            do throws(SecretError) {
                if old == nil {
                    // First, so that logout finds the login if this command is killed.
                    table.entries[place] = .elsewhere
                    try folder.write(table)
                }
                try service?.keep(secrets, for: place)
                table.entries[place] = .elsewhere
                return .secretService
            } catch {
                refusal = error.message
            }
        }
        // The earlier one is removed too.
        do throws(SecretError) {
            if case .silent(let reason) = presence { throw SecretError(message: reason) }
            if old == .elsewhere { try service(of: place).forget(place) }
        } catch {
            refusal = refusal ?? error.message
            if old == .elsewhere {
                refusal? += "; the earlier login for \(place) could not be removed from the Secret Service"
            }
        }
        table.entries[place] = .secrets(secrets)
        return .file(path, refusal: refusal)
    }

    /// Removes the login of a place.
    /// - Parameter last: The place whose login was used last, if that is known.
    /// - Returns: Its place; nil if there was none.
    package func forget(_ place: LoginPlace, last: String? = nil) throws(SecretError) -> String? {
        let removed = try changing { (_: LoginFolder, table: inout LoginTable) throws(SecretError) -> String? in
            guard let text = try kept(place, in: table, last: last) else { return nil }
            if table.entries[text] == .elsewhere { try service(of: text).forget(text) }
            table.entries[text] = nil
            return text
        }
        return removed ?? nil
    }

    /// Runs `body` while no other process changes the logins.
    /// - Returns: Nil if there is no folder.
    private func changing<Value>(
        _ body: (LoginFolder, inout LoginTable) throws(SecretError) -> Value
    ) throws(SecretError) -> Value? {
        PrivateMemory.close()
        guard let folder = try LoginFolder.open(folder) else { return nil }
        try folder.check()
        try folder.lock(seconds: lockSeconds)
        var table = try folder.table()
        let value = try body(folder, &table)
        try folder.write(table)
        return value
    }
}
