import ArgumentParser
import ReplicaControl

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
