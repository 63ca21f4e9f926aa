/// Shell functions for domains on real servers in private namespaces: a server ends with its test, and the machine's
/// home and installed stores are neither visible nor changed.
enum PrivateNamespace {
    /// Shell functions: `in_namespace` runs the script from standard input in new mount and process namespaces.
    /// - Parameters:
    ///   - hidesHome: Whether the user's home is replaced by an empty one, `$home`.
    ///   - preparation: Shell that runs before the script, without single quotes.
    static func words(hidesHome: Bool, preparation: String) -> String {
        let home = """
            home=$(getent passwd "$(id -u)" | cut -d: -f6)
            mount -t tmpfs -o mode=700 none "$home"
            """
        return """
            in_namespace() {
                { declare -f; cat; } >script
                unshare --mount --propagation private --pid --fork --kill-child --mount-proc bash -Eeuo pipefail -c '
                    trap "echo \\"failed at \\$LINENO: \\$BASH_COMMAND\\" >&2; tail -n 20 \\"\\$STATE/daemon.log\\" >&2" ERR
                    leave_others
            \(hidesHome ? home : "")
            \(preparation)
                    . "$HERE/script"'
            }
            says() { replica status d | grep -qF -- "$1"; }

            """
    }

    /// Shell code that installs one of our store programs where root's daemons search, instead of the machine's.
    static func installing(_ program: String) -> String {
        """
        mount -t tmpfs -o mode=755 none /usr/local/lib
        mkdir -p /usr/local/lib/replica/stores
        install -m 755 "$BIN/\(program)" /usr/local/lib/replica/stores/
        """
    }
}
