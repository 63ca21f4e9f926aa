/// The version of this program's release, by semver; both programs print it with `--version`.
package let programVersion = "0.1"
