/// The version of this program's release, by semver; both programs print it with `--version`.
package let programVersion = "0.1"

/// The version of what commands print with `--json` (docs/JSON.md). It is increased when a field goes, or has another meaning
/// or type, but not for new objects, fields and values.
package let jsonVersion = 1

/// What a program of this release is built with and speaks.
package struct ProgramVersions: Sendable {
    /// Of libfuse, as it says itself.
    package let libfuse: String
    /// Of the protocol that store programs speak (docs/STORE_PROTOCOL.md).
    package let storeProtocol: Int

    package init(libfuse: String, storeProtocol: Int) {
        self.libfuse = libfuse
        self.storeProtocol = storeProtocol
    }

    /// What `mount.replica --version` prints, and `replica --version` after its own name and version.
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
