import Glibc
package import SystemPackage

/// Finds stores that are separate programs (STORE_PROTOCOL.md §1): `replica-store-NAME` serves `NAME://`, and
/// `replica-store-webdav` both WebDAV schemes.
package struct StoreProgramSearch: Equatable, Sendable {
    /// The folders, in search order.
    package let folders: [FilePath]

    /// The system's folders, which come first.
    package static let system: [FilePath] = ["/usr/lib/replica/stores", "/usr/local/lib/replica/stores"]
    private static let prefix = "replica-store-"
    /// Programs that serve other schemes than that of their name.
    private static let schemes = ["webdav": ["dav", "davs"]]

    /// - Parameters:
    ///   - environment: Its `HOME` and `PATH` are used.
    ///   - isRoot: For root, only ``system`` is searched, because the program runs as root.
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

    /// The search for this process.
    package static var own: StoreProgramSearch {
        let environment = ["HOME", "PATH"].reduce(into: [String: String]()) { found, name in
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
        return StoreProgramSearch(environment: environment, isRoot: geteuid() == 0)
    }

    /// The name of a scheme's program.
    package static func program(of scheme: String) -> String {
        prefix + (schemes.first { $0.value.contains(scheme) }?.key ?? scheme)
    }

    /// The possible paths of a scheme's program.
    package func places(of scheme: String) -> [FilePath] { folders.map { $0.appending(Self.program(of: scheme)) } }

    /// The installed programs by scheme: the first one found for each.
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

    /// The folders for a message, in one line.
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
