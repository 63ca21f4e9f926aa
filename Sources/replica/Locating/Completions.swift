import ArgumentParser
import FoundationEssentials
import Glibc
import ReplicaControl

/// Shell completion: the generated scripts run this program.
extension CompletionKind {
    /// The names of domains.
    static let domain = CompletionKind.custom { _, _, prefix in names(prefix) }

    /// Files and folders. The shell's own completion is not used: bash's inserts names unquoted, including commands in them.
    static let path = CompletionKind.custom { _, _, prefix in files(prefix) }

    /// Domains and files, for arguments that name an item or a domain.
    static let target = CompletionKind.custom { _, _, prefix in names(prefix) + files(prefix) }

    /// The names of errors that a user can mark as resolved.
    static let errorCode = CompletionKind.list([
        "cannotSynchronize", "excludedFromSync", "insufficientQuota", "notAuthenticated", "readOnly",
        "serverUnreachable", "busy",
    ])

    /// Whether a shell needs no quoting for it. bash(1) expands completions (compgen -W): a file whose name contains a
    /// command in `$( )` would execute it when the user presses Tab.
    static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            $0.isASCII
                ? $0.properties.isAlphabetic || ("0"..."9").contains($0) || "._-/+@=,:%".unicodeScalars.contains($0)
                : $0.properties.isAlphabetic
        }
    }

    private static func names(_ prefix: String) -> [String] {
        // If the domains can't be read, nothing is offered.
        let all = try? DomainDirectory.searchPath(environment: ProcessInfo.processInfo.environment).domains { _, _ in }
        return (all ?? []).map(\.name.text).filter { $0.hasPrefix(prefix) && isPlain($0) }
    }

    /// The contents of the folder that the prefix names; folders end with a slash.
    private static func files(_ prefix: String) -> [String] {
        let end = prefix.lastIndex(of: "/").map { prefix.index(after: $0) } ?? prefix.startIndex
        let (folder, start) = (String(prefix[..<end]), prefix[end...])
        // A folder that can't be read offers nothing either.
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        let offered = entries.filter { $0.hasPrefix(start) && (!$0.hasPrefix(".") || start.hasPrefix(".")) }
        return offered.filter { isPlain(folder + $0) }.sorted().map { name in
            var status = stat()
            let isFolder = stat(folder + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            return folder + name + (isFolder ? "/" : "")
        }
    }
}
