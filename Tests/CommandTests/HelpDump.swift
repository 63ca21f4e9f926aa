/// The relevant part of the output of `--experimental-dump-help`.
struct HelpDump: Decodable {
    var command: Command

    struct Command: Decodable {
        var commandName: String
        var subcommands: [Command]?
        var arguments: [Argument]?
    }

    struct Argument: Decodable {
        var names: [Name]?
        var valueName: String?
    }

    struct Name: Decodable {
        var kind: String
        var name: String

        var typed: String { kind == "long" ? "--\(name)" : "-\(name)" }
    }
}
