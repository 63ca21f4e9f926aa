import FoundationEssentials
import HTTPClient
import HTTPStorage

/// The keys of the role that a virtual machine has, from its metadata service: Amazon's, version 2 ("Use the Instance Metadata
/// Service to access instance metadata"), or a service like it. They expire after some hours; then they are asked for again.
enum InstanceMetadataKeys {
    private static let usual = "http://169.254.169.254"
    private static let path = "/latest/meta-data/iam/security-credentials/"

    /// Nil if there are none, or nobody answers in time: elsewhere nobody has this address.
    static func ask(_ environment: [String: String], timeLimit: Duration) async -> S3Credentials? {
        guard environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() != "true" else { return nil }
        let named = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? ""
        let base = (named.isEmpty ? usual : named).trimmedSlashes
        guard base.hasPrefix("http://") || base.hasPrefix("https://") else { return nil }
        return await inTime(timeLimit, otherwise: nil) { await keys(base) }
    }

    private static func keys(_ base: String) async -> S3Credentials? {
        // Without a client there are none.
        guard let client = try? HTTPClient() else { return nil }
        defer { client.close() }
        var begin = HTTPRequest("PUT", base + "/latest/api/token")
        begin.headers = [("X-aws-ec2-metadata-token-ttl-seconds", "300")]
        guard let token = await text(begin, client) else { return nil }
        let headers = [(name: "X-aws-ec2-metadata-token", value: token)]
        func answer(_ name: String) async -> String? {
            await text(HTTPRequest("GET", base + path + name, headers: headers), client)
        }
        guard let role = await answer("")?.split(whereSeparator: \.isNewline).first,
            role.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }), let told = await answer(String(role))
        else { return nil }
        // Text that can't be decoded is no answer.
        guard let keys = try? JSONDecoder().decode(Told.self, from: Data(told.utf8)) else { return nil }
        return S3Credentials(
            accessKey: keys.access, secretKey: keys.secret, sessionToken: keys.token.isEmpty ? nil : keys.token)
    }

    private struct Told: Decodable {
        let access, secret, token: String

        private enum CodingKeys: String, CodingKey {
            case access = "AccessKeyId"
            case secret = "SecretAccessKey"
            case token = "Token"
        }
    }

    /// The body of a successful answer, of one or more printable lines.
    private static func text(_ request: HTTPRequest, _ client: HTTPClient) async -> String? {
        var request = request
        // A proxy would ask its own machine.
        (request.isDirect, request.longestAnswer) = (true, 16 << 10)
        guard let answer = try? await client.answer(to: request), answer.head.isSuccess, !answer.body.isEmpty else {
            return nil
        }
        let text = String(decoding: answer.body, as: UTF8.self)
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x0D }
        return isPlain ? text : nil
    }
}

extension String {
    fileprivate var trimmedSlashes: String {
        var text = self[...]
        while text.last == "/" { text.removeLast() }
        return String(text)
    }
}
