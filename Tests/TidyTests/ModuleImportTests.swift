import Testing

/// Imports run downwards only (MODEL.md#modules).
@Suite struct ModuleImportTests {
    /// The modules of this package that each one may import. A new module needs a line here.
    static let allowed: [String: Set<String>] = [
        "CLinux": [], "CWalk": [], "CMount": [], "CSHA256": [], "CLandlock": [], "CFuse": ["CMount", "CWalk"],
        "Threads": ["CLinux"],
        "FuseMount": ["CFuse", "CMount", "Threads"],
        "ReplicaModel": ["CLinux", "CWalk", "Threads"], "PercentEncoding": [],
        "ReplicaControl": ["ChildProcess", "CLinux", "CMount", "PercentEncoding"],
        "ReplicaFileSystem": ["FuseMount", "ReplicaModel", "CLinux", "Threads"],
        "DirectoryStore": ["ReplicaModel", "CLinux", "Threads"],
        "PathStore": ["ReplicaModel", "CLinux", "CSHA256", "Threads"],
        "ChildProcess": ["CLinux"],
        "ProcessStore": ["ChildProcess", "PathStore", "ReplicaModel", "CLandlock", "CLinux", "Threads"],
        "SFTPStore": ["ChildProcess", "PercentEncoding", "PathStore", "ReplicaModel", "CLinux", "Threads"],
        "CCurl": [], "CExpat": [], "CCrypto": [],
        "HTTPClient": ["CCurl", "CExpat", "CCrypto", "Threads"],
        "HTTPStorage": ["HTTPClient", "ChildProcess", "ProcessStore", "PathStore", "ReplicaModel", "Threads"],
        "S3Store": [
            "HTTPClient", "HTTPStorage", "ChildProcess", "PercentEncoding", "PathStore", "ReplicaModel", "Threads",
        ],
        "WebDAVStore": [
            "HTTPClient", "HTTPStorage", "ChildProcess", "PercentEncoding", "PathStore", "ReplicaModel", "Threads",
        ],
        "RcloneStore": [
            "HTTPClient", "HTTPStorage", "ChildProcess", "PercentEncoding", "PathStore", "ReplicaModel", "CLinux",
            "Threads",
        ],
        "StoreServer": ["ProcessStore", "ChildProcess", "PathStore", "ReplicaModel", "Threads"],
        "replica-store-s3": ["S3Store", "HTTPStorage", "StoreServer", "ProcessStore", "PathStore"],
        "replica-store-webdav": [
            "WebDAVStore", "HTTPStorage", "StoreServer", "ProcessStore", "PathStore", "ChildProcess",
        ],
        "replica-store-rclone": ["RcloneStore", "HTTPStorage", "StoreServer", "ProcessStore", "PathStore"],
        "mount.replica": [
            "FuseMount", "ReplicaFileSystem", "ReplicaModel", "DirectoryStore", "PathStore", "ProcessStore",
            "SFTPStore", "ReplicaControl", "ReplicaTestSupport", "ChildProcess", "CLinux", "Threads",
        ],
        "replica": ["ReplicaControl", "ChildProcess", "PercentEncoding", "Threads"],
        "replica-passthrough": [],
        "ReplicaTestSupport": ["ReplicaModel", "PathStore", "CLinux", "Threads"],
    ]

    /// Modules of others that a module must do without, and why.
    static let forbidden: [String: (modules: Set<String>, reason: String)] = [
        "FuseMount": (["Foundation", "GRDB", "Logging"], "it is for any filesystem, and on every system call's path"),
        "DirectoryStore": (["Foundation", "GRDB"], "names are bytes there"),
        "ReplicaModel": (["ArgumentParser"], "it has no command line"),
        "replica": (["GRDB", "Logging", "Foundation"], "it knows a domain by its socket, and is small without ICU"),
        "ReplicaControl": (["Foundation"], "the replica command is small without ICU"),
    ]

    static let targets = Set(SourceTree.swift.filter(\.isInSources).map(\.target))

    @Test func everyModuleHasItsRule() {
        for target in Self.targets { #expect(Self.allowed[target] != nil, "\(target) is missing in this test's table") }
    }

    @Test func modulesImportDownwardsOnly() {
        let own = Set(Self.allowed.keys)
        for file in SourceTree.swift where file.isInSources {
            for module in imports(of: file) {
                if own.contains(module), Self.allowed[file.target]?.contains(module) != true {
                    Issue.record("\(file.path) imports \(module)")
                }
                if let rule = Self.forbidden[file.target], rule.modules.contains(module) {
                    Issue.record("\(file.path) imports \(module): \(rule.reason)")
                }
            }
        }
    }

    /// The modules a file imports, whatever the access and the kind of the import.
    private func imports(of file: SourceTree.File) -> [String] {
        file.lines.compactMap { line in
            let words = line.code.split(separator: " ").map(String.init)
            guard let index = words.firstIndex(of: "import") else { return nil }
            let before = words[..<index]
            let isImport = before.allSatisfy { word in
                word.hasPrefix("@") || ["public", "package", "internal", "fileprivate", "private"].contains(word)
            }
            guard isImport, let name = words.dropFirst(index + 1).last else { return nil }
            return String(name.split(separator: ".")[0])
        }
    }
}
