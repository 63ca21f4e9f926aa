import ArgumentParser
import Glibc

/// The word that a shell completes, as the user has typed it so far.
struct TypedWord {
    /// Without quotes. `~` and variables stay as they are: shells only offer what starts with this.
    private(set) var text = ""
    /// The same as the program would get it; nil if only the shell knows it.
    private var path: String? = ""

    /// The part of the text up to its last slash, which is offered again.
    var typedFolder: String { Self.folder(of: text) }
    /// The folder whose contents can follow, with its slash; empty for the working directory.
    var folder: String? { path.map(Self.folder) }
    /// The beginning of a name in this folder.
    var name: String { String(text.dropFirst(typedFolder.count)) }

    private static func folder(of text: String) -> String {
        text.lastIndex(of: "/").map { String(text[...$0]) } ?? ""
    }

    /// - Parameter word: What the shell passes: fish 3 removes quotes itself.
    init(_ word: String) {
        let isPlain = CompletionShell.requesting == .fish && CompletionShell.requestingVersion?.hasPrefix("3.") == true
        var rest = Substring(word)
        expandHome(&rest)
        var quote: Character?
        while let first = rest.popFirst() {
            switch first {
            case "\\" where !isPlain && quote != "'":
                // Before anything else, a backslash in double quotes is itself.
                if quote == nil || rest.first.map({ "\\\"$`".contains($0) }) == true {
                    if let next = rest.popFirst() { append(String(next)) }
                } else {
                    append("\\")
                }
            case "'", "\"":
                if isPlain || quote != nil && quote != first {
                    append(String(first))
                } else {
                    quote = quote == nil ? first : nil
                }
            case "$" where quote != "'": expandVariable(&rest)
            case "`" where !isPlain && quote != "'": path = nil
            default: append(String(first))
            }
        }
    }

    private mutating func append(_ part: String) {
        text += part
        path? += part
    }

    /// `~/` and `~user/`. Without a slash, `~` is the beginning of a user's name, or of a file's.
    private mutating func expandHome(_ rest: inout Substring) {
        guard rest.first == "~", let end = rest.firstIndex(of: "/") else { return }
        let user = rest[..<end].dropFirst()
        guard user.allSatisfy({ $0.isLetter || $0.isNumber || "._-".contains($0) }) else { return }
        text += rest[..<end]
        rest = rest[end...]
        path = user.isEmpty ? Self.variable("HOME") : getpwnam(String(user)).map { String(cString: $0.pointee.pw_dir) }
    }

    /// `$NAME` and `${NAME}`, if this program has the variable too. A name that contains `$` is one without such a variable.
    private mutating func expandVariable(_ rest: inout Substring) {
        let isInBraces = rest.first == "{"
        let name = rest.dropFirst(isInBraces ? 1 : 0).prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
        let word = rest.prefix(name.count + (isInBraces ? 2 : 0))
        guard !name.isEmpty, !isInBraces || word.hasSuffix("}"), let value = Self.variable(String(name)) else {
            return append("$")
        }
        rest = rest.dropFirst(word.count)
        text += "$" + word
        path? += value
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
