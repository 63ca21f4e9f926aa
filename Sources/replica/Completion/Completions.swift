import ArgumentParser
import ChildProcess
import FoundationEssentials
import Glibc
import ReplicaControl

/// Shell completion: the generated scripts run this program.
extension CompletionKind {
    /// The names of domains.
    static let domain = CompletionKind.custom { _, _, prefix in CompletionAnswer.domains(prefix) }

    /// Files and folders. zsh(1) completes them itself; bash's own completion would replace `~` and `$HOME`.
    static var path: CompletionKind {
        CompletionShell.requesting == .zsh ? .file() : .custom { _, _, prefix in CompletionAnswer.files(prefix) }
    }

    /// Domains and files, for arguments that name an item or a domain.
    static let target = CompletionKind.custom { _, _, prefix in
        let files = CompletionShell.requesting == .zsh ? [CompletionScript.filesToo] : CompletionAnswer.files(prefix)
        return CompletionAnswer.domains(prefix) + files
    }

    /// The names of errors that a user can mark as resolved.
    static let errorCode = CompletionKind.list([
        "cannotSynchronize", "excludedFromSync", "insufficientQuota", "notAuthenticated", "readOnly",
        "serverUnreachable", "busy",
    ])
}

/// What is offered for a word, in the form that the shell's script expects.
private enum CompletionAnswer {
    static func domains(_ word: String) -> [String] {
        let typed = TypedWord(word).text
        // If the domains can't be read, nothing is offered.
        let all = try? DomainDirectory.searchPath(environment: ProcessInfo.processInfo.environment).domains { _, _ in }
        return (all ?? []).map(\.name.text).filter { $0.hasPrefix(typed) }.map(quoted)
    }

    /// The contents of the folder that the word names; folders end with a slash.
    static func files(_ word: String) -> [String] {
        let word = TypedWord(word)
        guard let folder = word.folder else { return [] }
        // A folder that can't be read offers nothing either.
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        let offered = entries.filter { $0.hasPrefix(word.name) && (!$0.hasPrefix(".") || word.name.hasPrefix(".")) }
        return offered.sorted().compactMap { name in
            var status = stat()
            // A name that is not UTF-8 can't be found by its text. One with a line break would become two offers.
            guard lstat(folder + name, &status) == 0, name.unicodeScalars.allSatisfy(SanitizedText.isHarmless) else {
                return nil
            }
            let isFolder = stat(folder + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            return quoted(word.typedFolder + name + (isFolder ? "/" : ""))
        }
    }

    /// bash(1) expands each offer (compgen -W) and quotes the result: without quotes here, a file whose name contains a
    /// command in `$( )` would execute it when the user presses Tab. zsh's `_describe` knows only `\`, fish nothing.
    private static func quoted(_ offer: String) -> String {
        switch CompletionShell.requesting {
        case .bash?:
            "'" + offer.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
        case .zsh?: offer.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: #"\\"#)
        default: offer
        }
    }
}
