import HTTPClient

/// The keys for signing requests.
package struct S3Credentials: Hashable, Sendable {
    package var accessKey: String
    package var secretKey: String
    /// For temporary credentials.
    package var sessionToken: String?

    /// Keys given explicitly.
    package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }

    /// From values with Amazon's names, in any case, or the short ones; nil if either key is missing.
    init?(values: [String: String]) {
        var found: [String: String] = [:]
        for (name, value) in values { found[name.lowercased()] = value.trimmedSpaces }
        func value(_ name: String, _ short: String) -> String? {
            [found[name], found[short]].lazy.compactMap(\.self).first { !$0.isEmpty }
        }
        guard let access = value("aws_access_key_id", "access_key"),
            let secret = value("aws_secret_access_key", "secret_key")
        else { return nil }
        self.init(
            accessKey: access, secretKey: secret, sessionToken: value("aws_session_token", "session_token"))
    }
}
