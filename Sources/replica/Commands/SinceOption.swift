import ArgumentParser

/// The option of lists that can be followed.
struct SinceOption: ParsableArguments {
    @Option(help: "Only changes since this anchor; '' lists everything, with a first anchor.")
    var since: String?

    static let explanation = """
        With --since, additions are marked + and removals -, and the last line is the anchor for the next call. \
        An anchor that is too old fails with status 19 (anchorExpired): start again with ''.
        """
}
