import Foundation
import Testing

/// The ENVIRONMENT of each manual page lists the variables that the sources of its programs read, no more and no less.
@Suite struct EnvironmentPageTests {
    /// The sources that a page is about.
    private static let sources: [String: [String]] = [
        "replica.1": ["replica", "ReplicaControl"],
        "mount.replica.8": ["mount.replica", "ReplicaControl"],
        "replica-domains.5": ["ReplicaControl/Domain/DomainDirectory.swift"],
        "replica-stores.7": [
            "ProcessStore", "SFTPStore", "S3Store", "WebDAVStore", "RcloneStore", "HTTPStorage", "StoreServer",
            "replica-store-s3", "replica-store-webdav", "replica-store-rclone",
        ],
    ]

    /// Words in capitals that name no variable, and the variables that rclone is kept from getting.
    private static let others: Set = [
        "GET", "HEAD", "PUT", "POST", "KILL", "CRITICAL", "RCLONE_RC", "RCLONE_CONFIG_PASS",
    ]

    /// The names of variables in files that say something about the environment.
    private static let variables: [String: Set<String>] = {
        var found: [String: Set<String>] = [:]
        let files = SourceTree.swift.filter(\.isInSources) + SourceTree.files(below: "Sources", suffix: ".c")
        for file in files where file.target != "ReplicaTestSupport" {
            let text = file.lines.joined(separator: "\n")
            guard text.contains(#/getenv|nvironment/#) else { continue }
            let names = text.matches(of: #/"([A-Z][A-Z0-9_]+|[a-z]+_proxy)"/#).map { String($0.1) }
            found[file.path] = Set(names).subtracting(others)
        }
        return found.filter { !$0.value.isEmpty }
    }()

    @Test(arguments: sources.keys.sorted()) func thePageListsWhatIsRead(page: String) throws {
        let text = try #require(SourceTree.document("man/\(page)")).components(separatedBy: "\n")
        let section = text.drop { $0 != ".Sh ENVIRONMENT" }.dropFirst().prefix { !$0.hasPrefix(".Sh ") }
        let listed = section.filter { $0.hasPrefix(".It Ev ") }
            .flatMap { $0.dropFirst(7).split(separator: " ").map(String.init).filter { $0 != "," } }
        #expect(listed.count == Set(listed).count, "a variable twice: \(listed)")
        let read = Self.sources[page, default: []].flatMap { source in
            Self.variables.filter { Self.isPart($0.key, of: source) }.flatMap(\.value)
        }
        #expect(Set(listed) == Set(read), "only one of the two has \(Set(listed).symmetricDifference(read).sorted())")
    }

    /// Nothing reads one that no page is about.
    @Test func everyReaderIsOfAPage() {
        let all = Self.sources.values.flatMap(\.self)
        for path in Self.variables.keys {
            #expect(all.contains { Self.isPart(path, of: $0) }, "\(path)")
        }
    }

    private static func isPart(_ path: String, of source: String) -> Bool {
        path.hasPrefix("Sources/\(source)/") || path == "Sources/\(source)"
    }
}
