import ArgumentParser
import Glibc
import ReplicaControl
import SystemPackage

/// `replica log`.
struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the log of a domain's daemon.",
        discussion: """
            It is daemon.log in the domain's state, after daemon.log.1, which the file becomes at 10 MiB. A daemon with \
            -o foreground writes its lines to standard error too: as a systemd service, to the journal.
            """)

    /// A line, for JSON.
    struct Entry: Encodable {
        let line: String
    }

    @OptionGroup var domain: DomainArgument
    @Flag(name: .shortAndLong, help: "Follow the log until interrupted.")
    var follow = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let location = try domain.find()
        var log = LogFile(location.state.appending(StateFileName.log.rawValue))
        let previous = location.state.appending(StateFileName.previousLog.rawValue)
        let hasPrevious = try log.previousLines(at: previous, print)
        let isThere = try log.lines(print)
        guard follow else {
            if !isThere, !hasPrevious {
                throw ControlFailure(.noSuchItem, "\(location.name) has no daemon.log: nothing was logged yet")
            }
            return try log.rest(print)
        }
        while true {
            usleep(200_000)
            _ = try log.lines(print)
        }
    }

    private func print(_ bytes: [UInt8]) throws {
        try output.show(Entry(line: String(decoding: bytes, as: UTF8.self)), [Format.path(bytes)])
    }
}
