import ArgumentParser
import ReplicaControl

/// `replica download`: requestDownloadForItem(withIdentifier:requestedRange:).
struct Download: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch a file's content; of a folder its listing, or all below it.")

    @OptionGroup var item: ItemArgument
    @Option(help: "Only these bytes: OFFSET,LENGTH.", transform: parseRange)
    var range: ByteRange?
    @Flag(help: "Of a folder, fetch all that is below it; 'replica pin' keeps it here too.")
    var recursive = false
    @Flag(help: "Return when the bytes are here, not when the download is under way.")
    var wait = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard range == nil || !recursive else { throw ValidationError("give --range or --recursive, not both") }
    }

    func run() throws {
        _ = try item.request(onEvent: output.event) {
            .download(path: $0, range: range, recursive: recursive, wait: wait)
        }
        try output.done(wait ? try here() : "\(item.path) is on its way")
    }

    /// What is here now: of a folder its listing only, unless all was asked for.
    private func here() throws -> String {
        if recursive { return "\(item.path) is here, with all that is below" }
        if range != nil { return "these bytes of \(item.path) are here" }
        guard case .item(let status) = try item.request({ .item(path: $0) }), status.kind == .folder else {
            return "\(item.path) is here"
        }
        return "\(item.path) is listed; '--recursive' fetches what is in it"
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
        abstract: "Give back the disk space of content that the store has; the names stay.",
        discussion: "What can't be evicted is listed with its reason, and the rest is evicted.")

    @OptionGroup var item: ItemArgument
    @Flag(help: "Evict nothing where anything refuses; ends with status 9 (refused) then.")
    var strict = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try item.request(onEvent: output.event) { .evict(path: $0, strict: strict) }
        guard case .evicted(let result) = answer else { return try output.done("\(item.path) is evicted") }
        try output.show(answer, EvictionText.lines(result, "evicted"))
        if strict, !result.refused.isEmpty { throw ExitReason.refused }
    }
}

/// `replica forget`.
struct Forget: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Evict what is below a folder, and forget its listing: the store is asked for it when it is read.",
        discussion: "Without the store a forgotten folder can't be listed. What is in use or not in the store stays.")

    @OptionGroup var item: ItemArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try item.request(onEvent: output.event) { .forget(path: $0) }
        guard case .evicted(let result) = answer else { return try output.done("\(item.path) is forgotten") }
        try output.show(answer, EvictionText.lines(result, "evicted or forgotten"))
    }
}

/// `replica pin`.
struct Pin: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Keep content here always, and what is below it.")
    @OptionGroup var item: ItemArgument
    @Flag(help: "Return when the bytes are here, not when they are on their way.")
    var wait = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try item.request(onEvent: output.event) { .pin(path: $0, wait: wait ? true : nil) }
        try output.done(wait ? "\(item.path) is pinned and here" : "\(item.path) is pinned")
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

/// `replica reimport`: reimportItems(below:), CONFORMANCE.md statements 27–39.
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
        discussion: """
            Fields are contents, filename, parent, lastUsedDate, tags, favoriteRank, modificationDate, mode and \
            extendedAttributes.
            """)
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
