import ArgumentParser

/// The completion scripts that ArgumentParser generates, with what it can't say.
enum CompletionScript {
    /// The first line of an answer to zsh: paths are offered too. No domain has this name.
    static let filesToo = "/"

    static func text(for shell: CompletionShell) -> String { completed(Replica.completionScript(for: shell)) }

    /// zsh completes paths itself: only the shell can quote them, and replace `~` and `$HOME`, in all of its modes. For bash, offers
    /// in double quotes are quoted.
    /// - Parameter script: Of any shell; other texts are returned as they are.
    static func completed(_ script: String) -> String {
        if script.hasSuffix(bashRegistration) { return script.dropLast(bashRegistration.count) + bashQuotes }
        guard script.hasPrefix("#compdef replica\n") else { return script }
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false)
        // The function is defined again before it can be called.
        let end = lines.lastIndex { $0.hasPrefix("if [[ \"${funcstack[1]}\"") } ?? 0
        return (lines[..<end] + [zshAnswer[...]] + lines[end...]).joined(separator: "\n")
    }

    private static let bashRegistration = "complete -o filenames -F _replica replica"

    /// In double quotes, bash itself would quote the `$` of `$HOME` in what it inserts. There what is new is quoted here, and the
    /// folder stays as it was typed. A `!` can't be quoted there.
    private static let bashQuotes = #"""
        __replica_quoted() {
            _replica "${@}"
            [[ "${COMP_WORDS[COMP_CWORD]}" = '"'*'$'* ]] || return 0
            compopt -o noquote
            local folder='' name slash
            [[ "${2}" = */* ]] && folder="${2%/*}/"
            local -a offers=("${COMPREPLY[@]}")
            COMPREPLY=()
            for name in "${offers[@]}"; do
                slash=''
                [[ "${name}" = */ ]] && slash=/ && name="${name%/}"
                name="${name##*/}"
                [[ "${name}" = *'!'* ]] && continue
                name=${name//'\'/'\\'}
                name=${name//'"'/'\"'}
                name=${name//'$'/'\$'}
                name=${name//'`'/'\`'}
                COMPREPLY+=("${folder}${name}${slash}")
            done
        }

        complete -o filenames -F __replica_quoted replica
        """#

    private static let zshAnswer = #"""
        __replica_custom_complete() {
            local -i ret=1
            local -a completions
            completions=("${(@f)"$("${command_name}" "${@}" "${command_line[@]}")"}")
            if (( ${completions[(Ie)/]} )); then
                completions=("${(@)completions:#/}")
                _files && ret=0
            fi
            if [[ "${#completions[@]}" -gt 1 ]]; then
                __replica_complete "${completions[@]:0:-1}" && ret=0
            fi
            return "${ret}"
        }

        """#
}
