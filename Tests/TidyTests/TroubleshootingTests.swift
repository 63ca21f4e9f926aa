import Foundation
import Testing

/// The messages that users meet, and what the pages say of them.
@Suite struct TroubleshootingTests {
    private static let page = "docs/TROUBLESHOOTING.md"
    private static let storePages = SourceTree.files(below: "docs/stores", suffix: ".md").map(\.path)

    /// The messages in the first cells of a page's tables. A store's page has other tables before its messages.
    private static func messages(of path: String) -> [String] {
        guard let text = SourceTree.document(path) else { return [] }
        let start = text.range(of: "\n## Messages\n")?.upperBound ?? text.startIndex
        return text[start...].components(separatedBy: "\n").flatMap { line -> [String] in
            guard let cell = line.firstMatch(of: #/^\| (`[^|]+`) \|/#)?.1 else { return [] }
            return cell.matches(of: #/`([^`]+)`/#).map { String($0.1) }
        }
    }

    /// Each message in the first cell of a row is in the source, word for word, or is the C library's.
    @Test(arguments: [(page, 60)] + storePages.map { ($0, 7) })
    func messagesInTablesAreOurs(path: String, atLeast least: Int) {
        let system: Set = [
            "Transport endpoint is not connected", "No route to host", "Network is down", "Stale file handle",
        ]
        let source = SourceTree.swift.filter(\.isInSources).flatMap(\.lines).joined(separator: "\n")
        let isStorePage = SourceTree.document(path)?.contains("\n## Messages\n")
        #expect(Self.storePages.contains(path) == isStorePage, "\(path)")
        let messages = Self.messages(of: path)
        for message in messages {
            #expect(system.contains(message) || source.contains(message), "\(path): not in the source: \(message)")
        }
        #expect(messages.count >= least)
    }

    /// The texts of the failures in a file, as they are written there.
    private static func failures(in file: SourceTree.File) -> [String] {
        let text = file.lines.joined(separator: "\n")
        var found = text.matches(of: #/ControlFailure\(\s*\.(\w+),\s*"(.*)"/#)
            .filter { !asks($0.1) }.map { String($0.2) }
        found += text.matches(of: #/SecretError\(\s*message: "(.*)"/#).map { String($0.1) }
        switch file.path.split(separator: "/").last {
        case "StateTrust.swift": found += text.matches(of: #/return "(.*)"/#).map { String($0.1) }
        case "DatabaseFailure.swift", "ErrnoText.swift", "RemoteStoreError.swift":
            // Without a space it is a name.
            found += text.matches(of: #/case .*: (?:\(\.\w+, )?"(.* .*)"/#).map { String($0.1) }
        default: break
        }
        return found
    }

    /// What a failure says has an entry on a page, or needs none: those of both programs, of logins, of a domain's state, and
    /// of a store.
    @Test func failuresHaveAnEntryOrNeedNone() {
        let known = ([Self.page] + Self.storePages).flatMap(Self.messages)
        let excuses = Self.selfExplanatory.values.flatMap { $0 }
        var (found, unused) = (0, Set(excuses))
        for file in SourceTree.swift where file.isInSources {
            for failure in Self.failures(in: file) {
                let words = Self.constant(failure)
                // Otherwise it says what another error says.
                guard words.joined().trimmed.count > 10 else { continue }
                found += 1
                func says(_ entry: String) -> Bool { (words + [words.joined()]).contains { $0.contains(entry) } }
                if known.contains(where: says) { continue }
                let excuse = excuses.first(where: says)
                #expect(excuse != nil, "\(file.path): \(failure) has no entry in \(Self.page)")
                if let excuse { unused.remove(excuse) }
            }
        }
        #expect(found > 120)
        #expect(unused.isEmpty, "not a message, or one with an entry")
    }

    /// A wrong command line is corrected with the message, and a user who ended something knows why it ended.
    private static func asks(_ code: Substring) -> Bool { code == "usage" || code == "interrupted" }

    /// The parts of a literal between its interpolations.
    private static func constant(_ literal: String) -> [String] {
        var (parts, depth) = ([""], 0)
        var rest = literal[...]
        while let character = rest.popFirst() {
            if depth > 0 {
                if character == "(" { depth += 1 } else if character == ")" { depth -= 1 }
            } else if character == "\\", rest.first == "(" {
                rest.removeFirst()
                depth = 1
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts
    }

    /// Failures without an entry, by the reason why they need none.
    private static let selfExplanatory: [String: [String]] = [
        "it says what to do": [
            ": unmount it first", "name the directory by its own path", "import a copy of it",
            "import first, create it again, then mount on it", ": try again",
            ": move it away, or choose another name", ": move the file there", "the domain is disconnected; see",
            ": give the domain a name and store=URL",
            "use NAME:PATH for domains that are not mounted",
        ],
        "it names what is not there, as it was given": [
            ": no such directory", ": not a directory", ": no domain is mounted there", ": no item here has the id",
            "no login is saved for", "has no daemon.log: nothing was logged yet",
            "is not mounted and has no daemon", "is not mounted ", "is not a folder", "the URL's user is not valid",
            "there is no ", "no such item", "it no longer exists in the store",
        ],
        "it names the line or the file that is wrong": [
            "is neither [URL] nor name=value", "is not name=value", ": not text of at most ", ": not a file",
        ],
        "it is resolved without the user": [
            "the store has another item with this name", "the store's change history has expired",
            "the store is busy and asks for a pause", "the store refused to delete it",
            "the store's folder is not empty", "the content in the store has changed",
            "it was also changed in the store",
        ],
        "the user ended it": ["the request was cancelled", "it was cancelled"],
        "it names what is there already": [
            "is already mounted on ", "there is a domain named ", " has another store: ", "the domain already exists",
        ],
        "the kernel's or the store's reason follows": ["the store can't be probed: "],
        "it gives the reason, and nothing was changed": [
            "was replaced meanwhile; nothing was changed", "is in a domain or contains one",
            "the place of the domain's state, ", " is in the state of a domain",
            "the store does not accept imports", ": only root may remount",
            "only root can have a domain mounted at boot", "operation not permitted", "it is in use",
            "not supported by the store or this system", "it is larger than this disk allows",
            "the login contains control characters", "no login was saved: it could not be read back",
        ],
        "only a faulty client of the control socket gets it": [
            "not a request: a JSON object", "the line is too long", "is already in progress",
        ],
    ]
}
