import ArgumentParser
import FoundationEssentials
import Glibc
import ReplicaControl

/// What a shell offers when somebody presses Tab: the generated scripts ask this program.
extension CompletionKind {
    /// The names of domains.
    static let domain = CompletionKind.custom { _, _, prefix in names(prefix) }

    /// Files and folders. Not the shells' own way: bash's puts a name on the command line as it is, commands in it with it.
    static let path = CompletionKind.custom { _, _, prefix in files(prefix) }

    /// Domains, and files: what names an item, or the domain that it is in.
    static let target = CompletionKind.custom { _, _, prefix in names(prefix) + files(prefix) }

    /// The names of errors that a person can end.
    static let errorCode = CompletionKind.list([
        "cannotSynchronize", "excludedFromSync", "insufficientQuota", "notAuthenticated", "readOnly",
        "serverUnreachable",
    ])

    /// Whether a shell takes it as it stands. bash(1) expands what is offered (compgen -W): a file whose name is a command in
    /// `$( )` would have it run by whoever presses Tab beside it.
    static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            $0.isASCII
                ? $0.properties.isAlphabetic || ("0"..."9").contains($0) || "._-/+@=,:%".unicodeScalars.contains($0)
                : $0.properties.isAlphabetic
        }
    }

    private static func names(_ prefix: String) -> [String] {
        // Where nothing can be read nothing is offered.
        let all = try? DomainDirectory.searchPath(environment: ProcessInfo.processInfo.environment).domains { _, _ in }
        return (all ?? []).map(\.name.text).filter { $0.hasPrefix(prefix) && isPlain($0) }
    }

    /// What is in the folder that the prefix names, folders with a slash.
    private static func files(_ prefix: String) -> [String] {
        let end = prefix.lastIndex(of: "/").map { prefix.index(after: $0) } ?? prefix.startIndex
        let (folder, start) = (String(prefix[..<end]), prefix[end...])
        // Nor from a folder that can't be read.
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        let offered = entries.filter { $0.hasPrefix(start) && (!$0.hasPrefix(".") || start.hasPrefix(".")) }
        return offered.filter { isPlain(folder + $0) }.sorted().map { name in
            var status = stat()
            let isFolder = stat(folder + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            return folder + name + (isFolder ? "/" : "")
        }
    }
}
