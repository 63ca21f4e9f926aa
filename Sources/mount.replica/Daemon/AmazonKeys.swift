import Glibc
import ReplicaControl

/// The keys of Amazon's tools in this process's environment. A store's program gets an environment without secrets, so
/// the S3 program gets these keys with its credentials.
enum AmazonKeys {
    private static let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]

    /// The credentials for the store of a URL; none for other schemes, or if the URL names a profile, whose keys are
    /// used instead.
    static func secrets(of url: StoreURL) -> [String: String] {
        guard url.scheme == "s3", !url.rest.contains("profile=") else { return [:] }
        return names.reduce(into: [:]) { secrets, name in
            if let value = getenv(name) { secrets[name] = String(cString: value) }
        }
    }
}
