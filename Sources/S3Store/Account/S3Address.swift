import HTTPClient
import PercentEncoding
package import ReplicaModel

/// A bucket of a server, and a folder in it: `s3://bucket/prefix?endpoint=…&region=…`.
package struct S3Address: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with a URL.
    package struct Invalid: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// The names of the URL's options. The manual page has each of them (`StorePageTests`).
    package enum Option: String, CaseIterable {
        case endpoint, region, profile, style, hints
        case authorities = "ca"
    }

    package let bucket: String
    /// The names of the store's folder; empty for the whole bucket.
    package let prefix: [FileName]
    /// `http://` or `https://`, a host, and optionally a port and a path; nil for Amazon's.
    package var endpoint: String?
    package var region: String?
    package var profile: String?
    /// Whether the bucket is part of the host name; nil for the endpoint's default.
    package var isVirtualHosted: Bool?
    /// A file of certificates in addition to the system's.
    package var authorities: String?
    /// Whether replicas tell each other of changes.
    package var hasHints = true

    package var description: String {
        "s3://" + ([bucket] + prefix.map(\.description)).joined(separator: "/")
    }

    /// Parses the part after `s3://`.
    package init(_ text: String) throws(Invalid) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var names = parts[0].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        bucket = names.removeFirst()
        guard Self.isBucket(bucket) else {
            throw Invalid(
                description:
                    "the URL has no valid bucket: its form is s3://BUCKET/FOLDER, and a bucket's name has 3 to 63 characters"
            )
        }
        if names.last == "" { names.removeLast() }
        var prefix: [FileName] = []
        for name in names {
            guard let bytes = PercentText.decoded(name), String(validating: bytes, as: UTF8.self) != nil else {
                throw Invalid(description: "the URL's path is not percent-encoded UTF-8")
            }
            let name = FileName(bytes: bytes)
            guard name.isValid else { throw Invalid(description: "the URL's path contains an invalid name") }
            prefix.append(name)
        }
        self.prefix = prefix
        if parts.count > 1 { try take(parts[1]) }
    }

    private mutating func take(_ options: Substring) throws(Invalid) {
        for option in options.split(separator: "&") {
            let pair = option.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, let bytes = PercentText.decoded(pair[1]),
                let value = String(validating: bytes, as: UTF8.self), !value.utf8.contains(where: { $0 < 0x20 })
            else { throw Invalid(description: "the URL's option \(pair.first ?? "") has no value") }
            guard let name = Option(rawValue: pair[0]) else {
                throw Invalid(
                    description:
                        "the URL has an unknown option; there are endpoint, region, profile, style, hints and ca"
                )
            }
            switch name {
            case .endpoint: endpoint = try Self.endpoint(value)
            case .region:
                guard Self.isPlain(value) else { throw Invalid(description: "the URL's region is not valid") }
                region = value
            case .profile: profile = value
            case .authorities: authorities = value
            case .hints:
                guard value == "yes" || value == "no" else {
                    throw Invalid(description: "the URL's hints must be yes or no")
                }
                hasHints = value == "yes"
            case .style:
                guard value == "path" || value == "virtual" else {
                    throw Invalid(description: "the URL's style must be path or virtual")
                }
                isVirtualHosted = value == "virtual"
            }
        }
    }

    /// An endpoint without a slash at its end.
    static func endpoint(_ text: String) throws(Invalid) -> String {
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        let host = ["https://", "http://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) } ?? ""
        let isPlain = host.utf8.allSatisfy { byte in
            (0x21..<0x7F).contains(byte) && !"?#@\"<>\\^`{|}%".utf8.contains(byte)
        }
        guard !host.isEmpty, host.first != "/", isPlain else {
            throw Invalid(description: "the endpoint must be an http:// or https:// address")
        }
        return text
    }

    /// Letters, digits, dots, hyphens and, for old buckets, underscores.
    private static func isBucket(_ text: String) -> Bool {
        (3...63).contains(text.utf8.count) && text != ".." && isPlain(text)
    }

    /// Whether it is not empty, and has no characters with a meaning in a URL or a header.
    static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                PercentText.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
                    || byte == UInt8(ascii: "_")
            }
    }
}
