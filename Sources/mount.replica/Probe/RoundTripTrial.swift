import PathStore
import ReplicaControl
import ReplicaModel

/// Writes with one client and reads the results with another.
struct RoundTripTrial {
    let first: any PathStorage
    let second: any PathStorage
    let store: ProbedStore

    private var properties: PathStorageProperties { first.properties }

    func run() async throws -> [ProbeFinding] {
        [
            try await names(), try await contents(), try await times(), try await modes(),
            try await symlinks(),
            attributes(), try await folders(), try await renames(), try await versions(),
        ]
    }

    private func path(_ names: String...) -> StoragePath { StoragePath(names.map { FileName($0) }) }

    private func names() async throws -> ProbeFinding {
        let longest = String(repeating: "n", count: properties.longestName)
        var wanted = ["Name", "é", longest]
        // If the store ignores case, it may ignore other differences too.
        if properties.isCaseSensitive { wanted += ["name", "e\u{301}"] }
        _ = try await first.make(path("names"), kind: .folder, attributes: PathAttributes())
        for name in wanted {
            do { try await RaceTrial.write(first, path("names", name), name, .absent) } catch let error
                as PathStorageError
            {
                let shown = name == longest ? "of \(properties.longestName) bytes" : "'\(name)'"
                return ProbeFinding("names", .broken, "a name \(shown) is rejected: \(ProbeText.words(error))")
            }
        }
        // Some filesystems and services reject these.
        var refused: [String] = []
        for name in ["?", ":", "*", "\\", "\n"] {
            do {
                try await RaceTrial.write(first, path("names", "a\(name)b"), name, .absent)
                wanted.append("a\(name)b")
            } catch let error as PathStorageError {
                guard case .refused = error else { throw error }
                refused.append(name == "\n" ? "line ends" : name)
            }
        }
        var (found, page) = (Set<FileName>(), EnumerationPage?.none)
        repeat {
            let answer = try await second.list(path("names"), isDeep: false, from: page)
            found.formUnion(answer.entries.compactMap(\.path.name))
            page = answer.next
        } while page != nil
        let missing = wanted.filter { !found.contains(FileName($0)) }
        guard missing.isEmpty else {
            return ProbeFinding(
                "names", .broken, "'\(missing[0].prefix(20))' comes back under another name")
        }
        let twins = properties.isCaseSensitive ? "Name and name are two files" : "Name and name are one file"
        let less = refused.isEmpty ? "" : "; names with \(refused.joined(separator: ", ")) are rejected"
        let isWhole = properties.isCaseSensitive && properties.longestName == 255 && refused.isEmpty
        return ProbeFinding(
            "names", isWhole ? .kept : .weak, "up to \(properties.longestName) bytes; \(twins)\(less)")
    }

    private func contents() async throws -> ProbeFinding {
        for size in [0, 1, 100_000] {
            let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) }
            let file = path("content-\(size)")
            try await RaceTrial.write(first, file, content, .absent)
            guard try await RaceTrial.content(second, file) == content else {
                return ProbeFinding("contents", .broken, "\(size) bytes come back changed")
            }
            guard properties.fetchesRanges, size > 1_000 else { continue }
            let part = try await RaceTrial.content(second, file, 500..<900)
            guard part.suffix(400).elementsEqual(content[500..<900]) else {
                return ProbeFinding("contents", .broken, "a range of a file comes back changed")
            }
        }
        return properties.fetchesRanges
            ? ProbeFinding("contents", .kept, "are unchanged, as a whole and in ranges")
            : ProbeFinding(
                "contents", .weak, "are unchanged, but only as a whole: reading a range fetches the whole file"
            )
    }

    /// Nanoseconds between any two times.
    static func distance(_ one: Timestamp, _ other: Timestamp) -> UInt64 {
        let difference = one.nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        return difference.overflow ? .max : difference.partialValue.magnitude
    }

    private func times() async throws -> ProbeFinding {
        guard properties.keepsModificationDates else {
            return ProbeFinding("times", .local, "modification times stay on this machine")
        }
        let wanted = Timestamp(seconds: 1_234_567_890, nanoseconds: 123_456_789)
        try await RaceTrial.write(
            first, path("time"), "x", .absent, PathAttributes(modificationDate: wanted))
        guard let found = try await second.entry(at: path("time"))?.attributes.modificationDate else {
            return ProbeFinding("times", .broken, "the store declares that it keeps times, but reports none")
        }
        let difference = Self.distance(found, wanted)
        let words: String? =
            switch difference {
            case 0: "to the nanosecond"
            case ..<1_000: "to the microsecond"
            case ..<1_000_000: "to the millisecond"
            case ..<1_000_000_000: "in whole seconds"
            case ..<2_000_000_000: "to two seconds"
            default: nil
            }
        guard let words else { return ProbeFinding("times", .broken, "a time comes back changed") }
        return ProbeFinding("times", difference < 1_000_000 ? .kept : .weak, "kept \(words)")
    }

    private func modes() async throws -> ProbeFinding {
        guard properties.keepsModes else {
            return ProbeFinding("modes", .local, "permission bits stay on this machine")
        }
        try await RaceTrial.write(first, path("mode"), "x", .absent, PathAttributes(mode: 0o640))
        guard try await second.entry(at: path("mode"))?.attributes.mode == 0o640 else {
            return ProbeFinding(
                "modes", .broken, "the store declares that it keeps permission bits, but reports others")
        }
        return ProbeFinding("modes", .kept, "permission bits are kept")
    }

    private func symlinks() async throws -> ProbeFinding {
        guard properties.keepsSymlinks else {
            return ProbeFinding("symbolic links", .local, "stay on this machine")
        }
        let kind = PathKind.symlink(Array("some/target".utf8))
        _ = try await first.make(path("link"), kind: kind, attributes: PathAttributes())
        guard try await second.entry(at: path("link"))?.kind == kind else {
            return ProbeFinding(
                "symbolic links", .broken, "the store declares that it keeps them, but reports others")
        }
        return ProbeFinding("symbolic links", .kept, "are kept")
    }

    private func attributes() -> ProbeFinding {
        store.keepsAttributes
            ? ProbeFinding("attributes", .kept, "attributes of the user. namespace are kept")
            : ProbeFinding("attributes", .local, "extended attributes stay on this machine")
    }

    private func folders() async throws -> ProbeFinding {
        _ = try await first.make(path("empty"), kind: .folder, attributes: PathAttributes())
        guard try await second.entry(at: path("empty"))?.kind == .folder else {
            return ProbeFinding("folders", .broken, "an empty folder does not exist")
        }
        return ProbeFinding("folders", .kept, "empty folders are kept")
    }

    private func renames() async throws -> ProbeFinding {
        _ = try await first.make(path("before"), kind: .folder, attributes: PathAttributes())
        let made = try await RaceTrial.write(first, path("before", "file"), "renamed", .absent)
        _ = try await first.move(path("before"), to: path("after"), version: nil)
        guard let found = try await second.entry(at: path("after", "file")),
            try await second.entry(at: path("before")) == nil,
            try await RaceTrial.content(second, path("after", "file")) == Array("renamed".utf8)
        else {
            return ProbeFinding(
                "renames", .broken, "renaming a folder loses some of its contents")
        }
        if properties.hasIdentities, found.identity == made.identity {
            return ProbeFinding("renames", .kept, "a file that another client moves keeps its identity")
        }
        return found.version == made.version
            ? ProbeFinding(
                "renames", .weak,
                "a file that another client renames is recognized if no other has its size and version")
            : ProbeFinding(
                "renames", .weak,
                "a file that another client renames counts as a new one, and is downloaded again")
    }

    /// Two contents of the same size in quick succession.
    private func versions() async throws -> ProbeFinding {
        let former = try await RaceTrial.write(first, path("version"), "former", .absent)
        let latter = try await RaceTrial.write(
            first, path("version"), "latter", .version(former.version ?? ""))
        guard properties.changeGrain > 0 else {
            return latter.version != former.version
                ? ProbeFinding(
                    "two changes", .kept, "each change has its own version, even in quick succession")
                : ProbeFinding(
                    "two changes", .broken, "the store declares a version for each change, but two have the same")
        }
        return ProbeFinding(
            "two changes", .weak,
            "of the same size by another client within \(ProbeText.duration(properties.changeGrain)) may count as one"
        )
    }
}
