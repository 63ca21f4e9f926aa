/// The version of this program's release, by semver; both programs print it with `--version`.
public let programVersion = "0.1"
