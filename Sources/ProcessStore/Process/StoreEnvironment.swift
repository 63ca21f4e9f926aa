import ChildProcess
import Foundation
import Glibc

/// The environment of a store's process.
enum StoreEnvironment {
    private static let names = [
        "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
        "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_REGION",
        "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE",
        "AWS_EC2_METADATA_DISABLED", "AWS_EC2_METADATA_SERVICE_ENDPOINT", "RCLONE_CONFIG",
    ]

    /// The variables of this process's environment that the protocol lists, as `NAME=VALUE`; for root with a fixed
    /// PATH.
    static func entries(
        of environment: [String: String] = ProcessInfo.processInfo.environment, isRoot: Bool = geteuid() == 0
    ) -> [String] {
        names.compactMap { name in
            if isRoot, name == "PATH" { return "PATH=\(SystemFolders.path)" }
            return environment[name].map { "\(name)=\($0)" }
        }
    }
}
