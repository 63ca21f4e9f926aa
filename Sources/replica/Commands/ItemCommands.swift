import ArgumentParser
import ReplicaControl

/// `replica download`: requestDownloadForItem(withIdentifier:requestedRange:).
struct Download: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Download a file, or list a folder, or download everything below it.")

    @OptionGroup var items: ItemArguments
    @Option(help: "Only these bytes: OFFSET,LENGTH.", transform: parseRange)
    var range: ByteRange?
    @Flag(help: "For a folder, download everything below it; 'replica pin' also keeps it local.")
    var recursive = false
    @Flag(help: "Return when the download is complete.")
    var wait = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard range == nil || !recursive else { throw ValidationError("give --range or --recursive, not both") }
    }

    func run() throws {
        try items.each { item in
            _ = try item.request(onEvent: output.event) {
                .download(path: $0, range: range, recursive: recursive, wait: wait)
            }
            try output.done(wait ? try words(item) : "\(item.path) is being downloaded")
        }
    }

    /// What was downloaded: for a folder only its listing, unless `--recursive` was given.
    private func words(_ item: NamedItem) throws -> String {
        if recursive { return "\(item.path) is downloaded, with everything below it" }
        if range != nil { return "the range of \(item.path) is downloaded" }
        guard case .item(let status) = try item.request({ .item(path: $0) }), status.kind == .folder else {
            return "\(item.path) is downloaded"
        }
        return "\(item.path) is listed; use --recursive to download its contents"
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
        abstract: "Free the disk space of content that is in the store; names are kept.",
        discussion: """
            Items that cannot be evicted are listed with the reason; the others are evicted. Exits with status 9 (refused) if \
            the item itself cannot be.
            """)

    @OptionGroup var items: ItemArguments
    @Flag(help: "Evict nothing below a path if any item there cannot be evicted; exits with status 9 (refused) then.")
    var strict = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            var named: ControlPath?
            let answer = try item.request(onEvent: output.event) { path in
                named = path
                return .evict(path: path, strict: strict)
            }
            guard case .evicted(let result) = answer else { return try output.done("\(item.path) is evicted") }
            try output.show(answer, EvictionText.lines(result, "evicted"))
            if result.refused.contains(where: { strict || $0.path == named }) { throw ExitReason.refused }
        }
    }
}

/// `replica forget`.
struct Forget: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Evict everything below a folder and drop its listing, which is fetched again when it is read.",
        discussion: "A forgotten folder cannot be listed offline. Items that are in use or not uploaded stay.")

    @OptionGroup var items: ItemArguments
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            let answer = try item.request(onEvent: output.event) { .forget(path: $0) }
            guard case .evicted(let result) = answer else { return try output.done("\(item.path) is forgotten") }
            try output.show(answer, EvictionText.lines(result, "evicted or forgotten"))
        }
    }
}

/// `replica pin`.
struct Pin: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Keep an item and everything below it local.")
    @OptionGroup var items: ItemArguments
    @Flag(help: "Return when everything is downloaded.")
    var wait = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            _ = try item.request(onEvent: output.event) { .pin(path: $0, wait: wait ? true : nil) }
            try output.done(wait ? "\(item.path) is pinned and downloaded" : "\(item.path) is pinned")
        }
    }
}

/// `replica unpin`.
struct Unpin: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Undo pin: content may be evicted again.")
    @OptionGroup var items: ItemArguments
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            _ = try item.request { .unpin(path: $0) }
            try output.done("\(item.path) is no longer pinned")
        }
    }
}

/// `replica reimport`: reimportItems(below:), CONFORMANCE.md statements 27–39.
struct Reimport: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Upload an item and everything below it again, after the store lost its identifiers.")
    @OptionGroup var items: ItemArguments
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            _ = try item.request { .reimport(path: $0) }
            try output.done("\(item.path) is being uploaded again")
        }
    }
}

/// `replica resend`: requestModification(of:forItemWithIdentifier:options:), statement 41.
struct Resend: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Upload an item again although it has not changed.",
        discussion: """
            Fields are contents, filename, parent, lastUsedDate, tags, favoriteRank, modificationDate, mode and \
            extendedAttributes.
            """)
    @OptionGroup var items: ItemArguments
    @Option(
        help: "Only these fields, separated by commas.", transform: { $0.split(separator: ",").map(String.init) })
    var fields: [String]?
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            _ = try item.request { .resend(path: $0, fields: fields) }
            try output.done("\(item.path) is being uploaded again")
        }
    }
}

/// `replica resolve`.
struct Resolve: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Resolve a conflict.")
    @OptionGroup var items: ItemArguments
    @Option(help: "Which version keeps the name: local, remote, or both as they are.")
    var keep: ConflictChoice
    @OptionGroup var output: OutputOptions

    func run() throws {
        try items.each { item in
            _ = try item.request { .resolve(path: $0, keep: keep) }
            try output.done("\(item.path) is resolved")
        }
    }
}
