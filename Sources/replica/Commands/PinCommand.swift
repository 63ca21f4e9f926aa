import ArgumentParser
import ReplicaControl

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
