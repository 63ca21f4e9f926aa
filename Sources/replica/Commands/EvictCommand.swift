import ArgumentParser
import ReplicaControl

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
