import ArgumentParser
import ReplicaControl

/// Options of every command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object a line.")
    var json = false

    /// Prints a value as JSON, or its lines for users.
    func show(_ value: some Encodable, _ lines: @autoclosure () -> [String]) throws {
        ProgressLine.end()
        if json { try Output.json(value) } else { lines().forEach(Output.line) }
    }

    /// Prints a success message, in JSON an empty answer.
    func done(_ line: String) throws {
        try show(ControlAnswer.done, [line])
    }

    /// Prints events; progress for users goes to standard error.
    func event(_ event: ControlEvent) throws {
        if json { return try Output.json(event) }
        if case .progress(let progress) = event { return ProgressLine.show(progress) }
        ProgressLine.end()
        EventText.lines(event).forEach(Output.line)
    }
}
