import Glibc
import ReplicaControl

/// The keys of Amazon's tools in this process's environment: what a store's program finds in its own has no secrets, so these go to
/// the one that they are for as what it is told in confidence.
enum AmazonKeys {
    private static let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]

    /// What the store of a URL is told; nothing for one of another scheme, or where the URL names the profile whose keys are wanted.
    static func secrets(of url: StoreURL) -> [String: String] {
        guard url.scheme == "s3", !url.rest.contains("profile=") else { return [:] }
        return names.reduce(into: [:]) { secrets, name in
            if let value = getenv(name) { secrets[name] = String(cString: value) }
        }
    }
}
