/// The version of this program's release, by semver; both programs print it with `--version`.
package let programVersion = "0.1"

/// The version of the output of `--json` (docs/JSON.md). It is increased if a field is removed or changes its meaning
/// or type, but not for new objects, fields and values.
package let jsonVersion = 1

/// The versions of libraries and protocols of a program of this release.
package struct ProgramVersions: Sendable {
    /// libfuse's version, as it reports it.
    package let libfuse: String
    /// The version of the protocol of store programs (docs/STORE_PROTOCOL.md).
    package let storeProtocol: Int

    package init(libfuse: String, storeProtocol: Int) {
        self.libfuse = libfuse
        self.storeProtocol = storeProtocol
    }

    /// The output of `mount.replica --version`, and of `replica --version` after its own name and version.
    package var text: String {
        """
        mount.replica \(programVersion)
        control protocol \(controlProtocolVersion)
        store protocol \(storeProtocol)
        JSON output \(jsonVersion)
        libfuse \(libfuse)
        """
    }
}
