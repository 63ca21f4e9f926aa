import ArgumentParser
import ReplicaControl

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
