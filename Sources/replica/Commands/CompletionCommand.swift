import ArgumentParser

/// `replica completion`.
struct Completion: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a shell's completion script.",
        discussion: """
            An installed 'replica' is completed already. Otherwise: source <(replica completion bash), or \
            replica completion fish | source; for zsh, a file named _replica in a folder of $fpath.
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    func run() {
        let kind: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        Output.document(CompletionScript.text(for: kind))
    }
}
