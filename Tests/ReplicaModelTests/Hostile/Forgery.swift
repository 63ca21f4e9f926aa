import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// An item that no correct store returns.
struct Forgery: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var change: @Sendable (inout Item) -> Void

    init(_ name: String, _ change: @escaping @Sendable (inout Item) -> Void) {
        (testDescription, self.change) = (name, change)
    }

    /// Each alone, and together with a different kind.
    static let all =
        single
        + single.map { one in
            Forgery("\(one.testDescription), a folder") { item in
                item.kind = .folder
                one.change(&item)
            }
        }
        + single.map { one in
            Forgery("\(one.testDescription), a symlink") { item in
                (item.kind, item.target) = (.symlink, Array("target".utf8))
                one.change(&item)
            }
        }

    private static let single = identities + parents + names + sizes + targets + versions + metadata

    private static let identities: [Forgery] = [
        "", "replica:root", "replica:trash", "replica:stale-1", "replica:", "\0", "a\0b", "/", "../..",
        String(repeating: "i", count: 1_025), String(repeating: "i", count: 1 << 20), "\u{202E}",
        "'; DROP TABLE item; --", "replica:stale-", "replica:trash/x", "REPLICA:root", "\u{FEFF}", "%s%n", "-1",
        "18446744073709551616", "\n",
    ].map { text in Forgery("identifier \(text.prefix(20).debugDescription)") { $0.identifier = ItemIdentifier(text) } }

    private static let parents: [Forgery] =
        ["", "replica:trash", "replica:stale-1", "nobody", "\0", String(repeating: "p", count: 1 << 20)].map { text in
            Forgery("parent \(text.prefix(20).debugDescription)") { $0.parent = ItemIdentifier(text) }
        } + [Forgery("in itself") { $0.parent = $0.identifier }]

    private static let names: [Forgery] = [
        [], [0x2E], [0x2E, 0x2E], [0x2F], Array("../escaped".utf8), Array("/tmp/escaped".utf8), Array("a/b".utf8), [0],
        [0x61, 0, 0x62], Array(repeating: 0x61, count: 256), Array(repeating: 0x61, count: 1 << 20), [0xFF, 0xFE],
        [0x0A],
        Array("good".utf8),
    ].map { bytes in
        Forgery("name \(String(decoding: bytes.prefix(20), as: UTF8.self).debugDescription) of \(bytes.count)") {
            $0.filename = FileName(bytes: bytes)
        }
    }

    private static let sizes: [Forgery] = [-1, .min, .max, .max - 1, 1 << 62, 1 << 53, (1 << 53) + 1, 1 << 44].map {
        size in
        Forgery("size \(size)") { $0.size = size }
    }

    private static let targets: [Forgery] =
        [nil, [], [0], [0x61, 0], Array(repeating: 0x61, count: 4_096), Array(repeating: 0x61, count: 1 << 20)].map {
            (target: [UInt8]?) in
            Forgery("target of \(target.map { "\($0.count) from \($0.first ?? 1)" } ?? "nothing")") { item in
                item.kind = .symlink
                item.target = target
            }
        } + [
            Forgery("a folder now") { $0.kind = .folder },
            Forgery("a folder with a size") {
                $0.kind = .folder
                $0.size = .min
            },
            Forgery("a file with a target") { $0.target = Array("/etc/passwd".utf8) },
        ]

    private static let versions: [Forgery] = [
        Forgery("no version") { $0.version = ItemVersion(content: "", metadata: "") },
        Forgery("a long content version") { $0.version.content = String(repeating: "v", count: 129) },
        Forgery("a huge metadata version") { $0.version.metadata = String(repeating: "v", count: 1 << 20) },
        Forgery("a version with NUL") { $0.version.content = "\0" },
        Forgery("a metadata version with NUL") { $0.version.metadata = "a\0b" },
        Forgery("a version of controls") { $0.version.content = "\u{1B}[2J\n" },
        Forgery("versions at the limit") {
            let longest = String(repeating: "v", count: 128)
            $0.version = ItemVersion(content: longest, metadata: longest)
        },
    ]

    private static let metadata: [Forgery] =
        [UInt16(0), 0o177777, 0o7777, 0o4755, 0o100644].map { (mode: UInt16) in
            Forgery("mode \(mode)") { $0.metadata.mode = mode }
        }
        + [
            "", "user.", "user.\0", "user.a\0b", "user." + String(repeating: "n", count: 300), "trusted.x",
            "security.x",
            "system.posix_acl_access", "user.replica.dataless", "/", "user.x",
        ].map { name in
            Forgery("attribute \(name.prefix(24).debugDescription)") { $0.metadata.extendedAttributes = [name: [1]] }
        } + [
            Forgery("an attribute of 1 MiB") {
                $0.metadata.extendedAttributes = ["user.x": Array(repeating: 0, count: 1 << 20)]
            },
            Forgery("tags of 1 MiB") { $0.metadata.tags = String(repeating: "t", count: 1 << 20) },
            Forgery("tags with NUL") { $0.metadata.tags = "a\0b" },
            Forgery("the highest rank") { $0.metadata.favoriteRank = .max },
            Forgery("a date before all") { $0.metadata.modificationDate = Timestamp(nanoseconds: -1) },
            Forgery("no capability") { $0.capabilities = [] },
            Forgery("every capability there is not") { $0.capabilities = Capabilities(rawValue: .max) },
            Forgery("never uploaded") { $0.isUploaded = false },
            Forgery("attributes without number") {
                let names = (0..<2_000).map { ("user.\($0)", [UInt8]()) }
                $0.metadata.extendedAttributes = Dictionary(uniqueKeysWithValues: names)
            },
            Forgery("dates at both ends") {
                $0.metadata.modificationDate = Timestamp(nanoseconds: .min)
                $0.metadata.lastUsedDate = Timestamp(nanoseconds: .max)
            },
        ]
}
