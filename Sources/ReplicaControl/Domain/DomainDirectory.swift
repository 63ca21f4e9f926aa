import Glibc
package import SystemPackage

/// The location of a domain on disk.
package struct DomainLocation: Sendable {
    /// The domain's name: the name of its entry in the root, which `domain.json` repeats.
    package let name: DomainName
    /// The state directory, absolute, with a link in the root resolved.
    package let state: FilePath
    /// The contents of `domain.json`.
    package let record: DomainRecord

    /// A domain at a known location, such as one just created.
    package init(name: DomainName, state: FilePath, record: DomainRecord) {
        self.name = name
        self.state = state
        self.record = record
    }

    /// The control socket's path.
    package var socket: FilePath { state.appending(ControlSocket.name) }
}

/// Why a domain, or the folder of all domains, cannot be read.
package struct UnreadableDomain: Error, CustomStringConvertible, Sendable {
    /// The path where it is listed.
    package let place: FilePath
    /// The reason.
    package let reason: String
    /// Whether its `domain.json` is damaged.
    package let isOfRecord: Bool

    init(place: FilePath, _ error: any Error) {
        self.place = place
        isOfRecord = error is DecodingError
        reason = error is DecodingError ? "\(StateFileName.record.rawValue) is damaged" : "\(error)"
    }

    package var description: String { "\(place) can't be read: \(reason)" }
}

/// The folder that lists a user's domains: one entry per domain, which is its state directory, or a symbolic link to it
/// if the state is next to an imported directory on another filesystem.
package struct DomainDirectory: Sendable {
    /// The folder. It need not exist yet.
    package let root: FilePath

    /// A folder given by name.
    package init(root: FilePath) {
        self.root = root
    }

    /// The folders to search, the one for new domains first: only `$XDG_DATA_HOME/replica` if that is set to an
    /// absolute path; otherwise `/var/lib/replica` for root and `~/.local/share/replica` for others.
    ///
    /// If the variable is set, no other place is used: commands for all domains must not reach domains elsewhere. `user` defaults
    /// to this process's. If HOME is missing, as under mount(8), the home directory comes from the password database.
    package static func searchPath(
        environment: [String: String], user: UInt32? = nil
    ) -> [DomainDirectory] {
        let user = user ?? geteuid()
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            return [DomainDirectory(root: FilePath(data).appending("replica"))]
        }
        if user == 0 { return [DomainDirectory(root: "/var/lib/replica")] }
        guard let home = home(environment: environment, user: user) else { return [] }
        return [DomainDirectory(root: FilePath(home).appending(".local/share/replica"))]
    }

    /// The domains in this folder, sorted by name. Entries that are not domains are skipped; one whose
    /// `domain.json` cannot be read, or whose disk is missing, is passed to `unreadable` and does not hide the others.
    package func domains(unreadable: (DomainName, any Error) -> Void = { _, _ in }) throws -> [DomainLocation] {
        var found: [DomainLocation] = []
        for text in try entries() {
            guard let name = Self.name(text) else { continue }
            do {
                if let domain = try domain(named: name) { found.append(domain) }
            } catch {
                unreadable(name, error)
            }
        }
        return found.sorted { $0.name.text < $1.name.text }
    }

    /// The domain with this name, or nil if there is none here. Throws ``UnreadableDomain`` if there is one that
    /// cannot be read: otherwise its name could be taken.
    package func domain(named name: DomainName) throws -> DomainLocation? {
        do { return try location(named: name) } catch {
            throw UnreadableDomain(place: root.appending(name.text), error)
        }
    }

    private func location(named name: DomainName) throws -> DomainLocation? {
        let entry = root.appending(name.text)
        guard let resolved = realpath(entry.string, nil) else {
            let reason = Errno(rawValue: errno)
            var status = stat()
            let isThere = lstat(entry.string, &status) == 0
            if !isThere, reason == .noSuchFileOrDirectory || reason == .notDirectory { return nil }
            throw reason
        }
        defer { free(resolved) }
        let state = FilePath(platformString: resolved)
        // A domain's tree is created last: without a tree, an import was interrupted and may be tried again.
        var tree = stat()
        guard lstat(state.appending(StateFileName.tree.rawValue).string, &tree) == 0 else {
            // Without permission nothing is known about it.
            let reason = Errno(rawValue: errno)
            if reason == .noSuchFileOrDirectory || reason == .notDirectory { return nil }
            throw reason
        }
        try StateTrust.checkAbove(state)
        try StateTrust.check(state)
        guard let json = try FileBytes.readIfPresent(state.appending(StateFileName.record.rawValue)) else {
            return nil
        }
        return DomainLocation(name: name, state: state, record: try DomainRecord(json: json))
    }

    private func entries() throws -> [String] {
        guard let folder = opendir(root.string) else {
            if errno == ENOENT { return [] }
            throw UnreadableDomain(place: root, Errno(rawValue: errno))
        }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else {
                if errno != 0 { throw UnreadableDomain(place: root, Errno(rawValue: errno)) }
                return names
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name { names.append(name) }
        }
    }

    private static func name(_ text: String) -> DomainName? {
        do { return try DomainName(text) } catch { return nil }
    }

    private static func home(environment: [String: String], user: UInt32) -> String? {
        if let home = environment["HOME"], home.hasPrefix("/") { return home }
        guard let record = getpwuid(user), let home = record.pointee.pw_dir else { return nil }
        return String(cString: home)
    }
}

extension [DomainDirectory] {
    /// All domains in these folders; if a name is in two folders, the first one counts.
    package func domains(unreadable: (DomainName, any Error) -> Void = { _, _ in }) throws -> [DomainLocation] {
        var found: [DomainLocation] = []
        for directory in self {
            found += try directory.domains(unreadable: unreadable).filter { new in
                !found.contains { $0.name == new.name }
            }
        }
        return found.sorted { $0.name.text < $1.name.text }
    }

    /// The first domain of this name.
    package func domain(named name: DomainName) throws -> DomainLocation? {
        for directory in self {
            if let found = try directory.domain(named: name) { return found }
        }
        return nil
    }

    /// The domain kept in this store, or nil if none is.
    package func domain(storedAt store: StoreURL) throws -> DomainLocation? {
        let all = try domains()
        // Earlier versions made one for each spelling.
        return all.first { $0.record.isStored(underExactly: store) } ?? all.first { $0.record.isStored(at: store) }
    }
}
