import Glibc
package import SystemPackage

/// Where stores are looked for that are programs of their own (STORE_PROTOCOL.md §1): `replica-store-NAME` serves `NAME://`, and
/// `replica-store-webdav` both of WebDAV's.
package struct StoreSearch: Equatable, Sendable {
    /// Folders in the order in which they are looked through.
    package let folders: [FilePath]

    /// Those of everybody, which come first.
    package static let system: [FilePath] = ["/usr/lib/replica/stores", "/usr/local/lib/replica/stores"]
    private static let prefix = "replica-store-"
    /// Programs that serve other schemes than the one that they are named after.
    private static let schemes = ["webdav": ["dav", "davs"]]

    /// - Parameters:
    ///   - environment: `HOME` and `PATH` of it are used.
    ///   - isRoot: Root looks in ``system`` only, for what is found is run as root.
    package init(environment: [String: String], isRoot: Bool) {
        var folders = Self.system
        if !isRoot {
            if let home = environment["HOME"], home.hasPrefix("/") {
                folders.append(FilePath(home).appending(".local/lib/replica/stores"))
            }
            let words = environment["PATH"]?.split(separator: ":") ?? []
            folders += words.filter { $0.hasPrefix("/") }.map { FilePath(String($0)) }
        }
        self.folders = folders.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// What this process finds.
    package static var own: StoreSearch {
        let environment = ["HOME", "PATH"].reduce(into: [String: String]()) { found, name in
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
        return StoreSearch(environment: environment, isRoot: geteuid() == 0)
    }

    /// The name of a scheme's program.
    package static func program(of scheme: String) -> String {
        prefix + (schemes.first { $0.value.contains(scheme) }?.key ?? scheme)
    }

    /// Where a scheme's program may be.
    package func places(of scheme: String) -> [FilePath] { folders.map { $0.appending(Self.program(of: scheme)) } }

    /// The programs that are there, by the schemes that they serve: the first of each.
    package func installed() -> [(scheme: String, path: FilePath)] {
        var found: [String: FilePath] = [:]
        for folder in folders {
            for name in Self.names(in: folder) where name.hasPrefix(Self.prefix) {
                let (own, path) = (String(name.dropFirst(Self.prefix.count)), folder.appending(name))
                guard StoreURL.isScheme(own), access(path.string, X_OK) == 0 else { continue }
                for scheme in Self.schemes[own] ?? [own] where Self.program(of: scheme) == name && found[scheme] == nil
                {
                    found[scheme] = path
                }
            }
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Folders for a person, in one line.
    package var words: String { folders.map(\.string).joined(separator: ", ") }

    private static func names(in folder: FilePath) -> [String] {
        guard let stream = opendir(folder.string) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name { names.append(name) }
        }
        return names
    }
}
