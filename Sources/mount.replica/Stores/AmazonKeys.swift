import Glibc
import ReplicaControl

/// The keys of Amazon's tools in this process's environment. A store's program gets an environment without secrets, so
/// the S3 program gets these keys with its credentials.
enum AmazonKeys {
    private static let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]

    /// Those of the environment that this process was started with.
    private static let found = names.reduce(into: [String: String]()) { secrets, name in
        if let value = getenv(name) { secrets[name] = String(cString: value) }
    }

    /// Removes them from the environment, so that programs started by this process don't inherit them. Called while no
    /// other thread runs.
    static func take() {
        _ = found
        for name in names { unsetenv(name) }
    }

    /// The credentials for the store of a URL; none for other schemes, or if the URL names a profile, whose keys are
    /// used instead.
    static func secrets(of url: StoreURL) -> [String: String] {
        guard url.scheme == "s3", !url.rest.contains("profile=") else { return [:] }
        return found
    }
}
