import HTTPClient

/// Amazon's signatures, version 4, over the method, the path, the query and all headers of a request.
struct Signature {
    /// Replaces the hash of a body that is not hashed, because TLS protects it.
    static let unsigned = "UNSIGNED-PAYLOAD"

    let credentials: S3Credentials
    let region: String
    /// In the form `20130524T000000Z`.
    let moment: String

    private var day: Substring { moment.prefix(8) }
    private var scope: String { "\(day)/\(region)/s3/aws4_request" }

    /// The headers of a request, with the signature.
    /// - Parameters:
    ///   - path: Percent-encoded, everything after the host.
    ///   - query: Percent-encoded names and values.
    ///   - payload: The hash of the body, or ``unsigned``.
    func signed(
        _ method: String, host: String, path: String, query: [(name: String, value: String)],
        headers: [(name: String, value: String)], payload: String
    ) -> [(name: String, value: String)] {
        var all = headers + [("x-amz-content-sha256", payload), ("x-amz-date", moment)]
        if let token = credentials.sessionToken { all.append(("x-amz-security-token", token)) }
        let lines = (all + [("host", host)]).map { ($0.name.lowercased(), Self.collapsed($0.value)) }.sorted {
            $0.0 < $1.0
        }
        let names = lines.map(\.0).joined(separator: ";")
        let canonical = [
            method, path, Self.joined(query), lines.map { "\($0.0):\($0.1)\n" }.joined(), names, payload,
        ].joined(separator: "\n")
        let text = [
            "AWS4-HMAC-SHA256", moment, scope, Hash.hexadecimal(Hash.sha256(Array(canonical.utf8))),
        ].joined(separator: "\n")
        let signature = Hash.hexadecimal(Hash.hmac(key, text))
        all.append(
            (
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope), SignedHeaders=\(names), "
                    + "Signature=\(signature)"
            ))
        return all
    }

    /// A query in the form that is sent and signed: sorted.
    static func joined(_ query: [(name: String, value: String)]) -> String {
        query.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
            .joined(separator: "&")
    }

    private var key: [UInt8] {
        [String(day), region, "s3", "aws4_request"].reduce(Array("AWS4\(credentials.secretKey)".utf8)) {
            Hash.hmac($0, $1)
        }
    }

    /// Consecutive spaces count as one.
    private static func collapsed(_ value: String) -> String {
        value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }
}
