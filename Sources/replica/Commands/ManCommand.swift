import ArgumentParser
import Glibc
import ReplicaControl

/// `replica man`.
struct Man: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a manual page.",
        discussion: """
            replica: the commands. mount.replica: mounts and their options. replica-stores: kinds of stores. \
            replica-domains: the files of a domain.
            """)

    enum Page: String, CaseIterable, ExpressibleByArgument {
        case replica
        case mountReplica = "mount.replica"
        case stores = "replica-stores"
        case domains = "replica-domains"

        var section: String {
            switch self {
            case .replica: "1"
            case .mountReplica: "8"
            case .stores: "7"
            case .domains: "5"
            }
        }
    }

    @Argument(help: "The page: replica, mount.replica, replica-stores or replica-domains.")
    var page = Page.replica

    /// Becomes man(1). The page that was installed with this program takes precedence over others of the same name.
    func run() throws {
        let words: [String]
        if let own = Self.installed(page) {
            words = ["man", "-l", own]
        } else {
            words = ["man", page.section, page.rawValue]
        }
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        execvp("man", arguments)
        throw ControlFailure(.failed, "man: \(String(cString: strerror(errno)))")
    }

    private static func installed(_ page: Page) -> String? {
        guard let own = realpath(SystemPath.ownProgram, nil) else { return nil }
        defer { free(own) }
        let parts = String(cString: own).split(separator: "/").dropLast(2)
        let path = "/\(parts.joined(separator: "/"))/share/man/man\(page.section)/\(page.rawValue).\(page.section)"
        // A package has them compressed.
        return [path, "\(path).gz"].first { access($0, R_OK) == 0 }
    }
}
