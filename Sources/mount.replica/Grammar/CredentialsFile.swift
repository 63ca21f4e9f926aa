import ReplicaControl
import SystemPackage

/// The file of `credentials=`: lines of `name=value`.
enum CredentialsFile {
    /// Throws a one-line message if the file is missing, is not a regular file, belongs neither to this user nor to
    /// root, or can be read or written by others than its owner.
    static func check(_ path: FilePath) throws(MountUsageError) {
        do throws(SecretError) { try SecretFile(path, called: name(path)).close() } catch {
            throw MountUsageError(error.message)
        }
    }

    /// The secrets in a file that passes these checks.
    /// - Throws: As above, and for a line that is neither `name=value` nor a comment.
    static func read(_ path: FilePath) throws(MountUsageError) -> [String: String] {
        do throws(SecretError) {
            let file = try SecretFile(path, called: name(path))
            defer { file.close() }
            return try SecretLines.secrets(in: file.text(), called: name(path))
        } catch {
            throw MountUsageError(error.message)
        }
    }

    private static func name(_ path: FilePath) -> String { "credentials=\(path)" }
}
