import Glibc
package import HTTPStorage

/// The endpoint and the keys for a server: from the URL, the secrets that came with it, the environment, the files of Amazon's
/// tools and the virtual machine's role, in this order.
package struct S3Account: Hashable, Sendable {
    package let credentials: S3Credentials
    package let region: String
    /// Without a slash at its end.
    package let endpoint: String
    package let isVirtualHosted: Bool

    /// Finds them.
    /// - Parameters:
    ///   - secrets: The secrets that came with the URL.
    ///   - environment: The environment of this process.
    ///   - timeLimit: How long the virtual machine's metadata service is waited for.
    /// - Throws: One line that says what is missing.
    package static func find(
        _ address: S3Address, secrets: [String: String], environment: [String: String],
        timeLimit: Duration = .seconds(4)
    ) async throws(ServerFailure) -> S3Account {
        do throws(ServerFailure) { return try find(address, secrets, environment, ofMachine: nil) } catch {
            guard error == noKeys, let keys = await InstanceMetadataKeys.ask(environment, timeLimit: timeLimit) else {
                throw error
            }
            return try find(address, secrets, environment, ofMachine: keys)
        }
    }

    /// - Parameter ofMachine: The keys of the virtual machine's role.
    static func find(
        _ address: S3Address, _ secrets: [String: String], _ environment: [String: String], ofMachine: S3Credentials?
    ) throws(ServerFailure) -> S3Account {
        let profile = address.profile ?? environment["AWS_PROFILE"].flatMap { $0.isEmpty ? nil : $0 } ?? "default"
        let values = try values(of: profile, isAsked: address.profile != nil, environment)
        guard
            let credentials = S3Credentials(values: secrets)
                ?? (address.profile == nil ? S3Credentials(values: environment) : nil)
                ?? S3Credentials(values: values) ?? ofMachine
        else { throw missing(values, profile) }
        func setting(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let region =
            address.region ?? setting("AWS_REGION") ?? setting("AWS_DEFAULT_REGION") ?? values["region"] ?? "us-east-1"
        let given =
            address.endpoint ?? values["endpoint_url"] ?? setting("AWS_ENDPOINT_URL_S3")
            ?? setting("AWS_ENDPOINT_URL")
        let endpoint: String
        do throws(S3Address.Invalid) {
            endpoint = try given.map(S3Address.endpoint) ?? "https://s3.\(region).amazonaws.com"
        } catch {
            throw .refused(error.description)
        }
        return S3Account(
            credentials: credentials, region: region, endpoint: endpoint,
            isVirtualHosted: address.isVirtualHosted ?? (given == nil && isHostName(address.bucket)))
    }

    /// The same account at Amazon's endpoint of another region.
    func moved(to region: String) -> S3Account {
        S3Account(
            credentials: credentials, region: region, endpoint: "https://s3.\(region).amazonaws.com",
            isVirtualHosted: isVirtualHosted)
    }

    /// The settings of a profile.
    private static func values(
        of profile: String, isAsked: Bool, _ environment: [String: String]
    ) throws(ServerFailure) -> [String: String] {
        let home = environment["HOME"] ?? ""
        let places = [
            (environment["AWS_CONFIG_FILE"] ?? "\(home)/.aws/config", true),
            (environment["AWS_SHARED_CREDENTIALS_FILE"] ?? "\(home)/.aws/credentials", false),
        ]
        var values: [String: String]?
        for (path, isConfiguration) in places where path.hasPrefix("/") {
            guard let found = AWSProfileFile(path: path, isConfiguration: isConfiguration)?.sections[profile] else {
                continue
            }
            values = (values ?? [:]).merging(found) { $1 }
        }
        if isAsked, values == nil {
            throw .notAuthenticated("there is no profile \(profile) in ~/.aws/credentials or ~/.aws/config")
        }
        return values ?? [:]
    }

    private static func missing(_ values: [String: String], _ profile: String) -> ServerFailure {
        let others = ["credential_process", "sso_session", "sso_start_url", "role_arn", "web_identity_token_file"]
        if let other = others.first(where: { values[$0] != nil }) {
            return .notAuthenticated("the profile \(profile) uses \(other) to log in, which is not supported yet")
        }
        return noKeys
    }

    static let noKeys = ServerFailure.notAuthenticated(
        "there are no keys: run replica login, or give a file with access_key= and secret_key= (--credentials, -o credentials=), or write ~/.aws/credentials"
    )

    /// Whether a bucket can be part of a host name that a certificate for `*.s3…` covers.
    private static func isHostName(_ bucket: String) -> Bool {
        bucket.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-")
        }
    }
}
