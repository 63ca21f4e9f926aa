import ArgumentParser
import ReplicaControl

/// `replica restore`.
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Undo a held mass deletion: upload the deleted items again.",
        discussion: "Items whose content is not local cannot be uploaded; they stay held until 'replica approve'.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try domain.request(.restore)
        guard case .restored(let result) = answer else { return try output.done("the items are uploaded again") }
        let left = "; \(Format.count(result.left, "item")) whose content is not local stays held"
        try output.show(
            answer, ["\(Format.count(result.items, "item")) uploaded again\(result.left > 0 ? left : "")"])
    }
}
