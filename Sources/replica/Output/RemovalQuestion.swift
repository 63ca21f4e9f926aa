import Glibc
import ReplicaControl

/// Asks for confirmation before all domains are removed.
struct RemovalQuestion {
    /// The domains to be removed.
    let domains: [String]
    let keep: RemovalMode

    /// A description: `remove 2 domains: a, b`.
    var words: String {
        let lost =
            switch keep {
            case .dirty, .downloaded: ""
            case .none: ", and edits that are not in the store are lost"
            }
        return "remove \(Format.count(domains.count, "domain")): \(domains.joined(separator: ", "))\(lost)"
    }

    /// Returns if the user confirms, or there is nothing to remove.
    /// - Throws: `usage` if there is no terminal, `interrupted` if the answer is no.
    func ask() throws(ControlFailure) {
        if domains.isEmpty { return }
        guard isatty(0) == 1, isatty(2) == 1 else {
            throw ControlFailure(.usage, "this would \(words); pass --yes to do it")
        }
        Output.question("\(words)? [y/N] ")
        let answer = (readLine() ?? "").lowercased()
        guard answer == "y" || answer == "yes" else { throw ControlFailure(.interrupted, "nothing was removed") }
    }
}
