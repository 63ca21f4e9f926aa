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
