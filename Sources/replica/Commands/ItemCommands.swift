import ArgumentParser
import ReplicaControl

/// `replica download`: requestDownloadForItem(withIdentifier:requestedRange:).
struct Download: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch a file's content, or a folder's listing; 'replica pin' fetches all below.")

    @OptionGroup var item: ItemArgument
    @Option(help: "Only these bytes: OFFSET,LENGTH.", transform: parseRange)
    var range: ByteRange?
    @Flag(help: "Return when the bytes are here, not when the download is under way.")
    var wait = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try item.request(onEvent: output.event) { .download(path: $0, range: range, wait: wait) }
        try output.done(wait ? "\(item.path) is here" : "\(item.path) is on its way")
    }
}

/// `OFFSET,LENGTH` in bytes.
private func parseRange(_ text: String) throws -> ByteRange {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int64($0) }
    guard numbers.count == 2, let offset = numbers[0], let length = numbers[1], offset >= 0, length > 0,
        !offset.addingReportingOverflow(length).overflow
    else { throw ValidationError("a range is OFFSET,LENGTH in bytes, not '\(text)'") }
    return ByteRange(offset: offset, length: length)
}

/// `replica evict`: evictItem(identifier:).
struct Evict: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give back the disk space of content that the store has; the names stay.")

    /// What to do about what can't be evicted.
    enum Strictness: String, EnumerableFlag {
        case strict, bestEffort

        static func help(for value: Strictness) -> ArgumentHelp? {
            switch value {
            case .strict: "Evict nothing where anything refuses; ends with status 9 (refused). The default."
            case .bestEffort: "Evict what can be evicted and list the rest."
            }
        }
    }

    @OptionGroup var item: ItemArgument
    @Flag var strictness = Strictness.strict
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try item.request { .evict(path: $0, strict: strictness == .strict) }
        guard case .evicted(let result) = answer else { return try output.done("\(item.path) is evicted") }
        var lines = ["\(Format.count(result.items, "item")) evicted, \(Format.bytes(result.bytes)) given back"]
        lines += result.refused.map { "\(Format.path($0.path)): \($0.code): \($0.message)" }
        try output.show(answer, lines)
        if strictness == .strict, !result.refused.isEmpty { throw ExitReason.refused }
    }
}

/// `replica pin`.
struct Pin: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Keep content here always, and what is below it.")
    @OptionGroup var item: ItemArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try item.request { .pin(path: $0) }
        try output.done("\(item.path) is pinned")
    }
}

/// `replica unpin`.
struct Unpin: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Undo pin: content may be evicted again.")
    @OptionGroup var item: ItemArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try item.request { .unpin(path: $0) }
        try output.done("\(item.path) is not pinned")
    }
}

/// `replica reimport`: reimportItems(below:), file-provider.md §23 statements 27–39.
struct Reimport: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Offer an item and what is below it to the store again, after it lost its identifiers.")
    @OptionGroup var item: ItemArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try item.request { .reimport(path: $0) }
        try output.done("\(item.path) is being imported again")
    }
}

/// `replica resend`: requestModification(of:forItemWithIdentifier:options:), statement 41.
struct Resend: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send an item to the store once more, though nothing changed.",
        discussion: "Fields are those that 'replica status PATH' names: contents, filename, parent, mode, tags, ...")
    @OptionGroup var item: ItemArgument
    @Option(
        help: "Only these fields, with commas between them.", transform: { $0.split(separator: ",").map(String.init) })
    var fields: [String]?
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try item.request { .resend(path: $0, fields: fields) }
        try output.done("\(item.path) is sent again")
    }
}

/// `replica resolve`.
struct Resolve: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Settle a conflict.")
    @OptionGroup var item: ItemArgument
    @Option(help: "Which version keeps the name: local, remote, or both as they are.")
    var keep: ConflictChoice
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try item.request { .resolve(path: $0, keep: keep) }
        try output.done("\(item.path) is settled")
    }
}
