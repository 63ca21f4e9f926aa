import HTTPClient
import PercentEncoding
import ReplicaModel

/// The `href` of an answer (RFC 4918 §8.3), which is a URL or its path.
enum Reference {
    /// The names below the store's folder.
    /// - Returns: Nil if it is on another host, outside the folder, or not a valid path.
    static func names(_ href: [UInt8], in address: WebDAVAddress) -> [FileName]? {
        guard var text = String(validating: href, as: UTF8.self)?.trimmedSpaces[...] else { return nil }
        if let end = text.firstRange(of: "://"), text[..<end.lowerBound].allSatisfy({ $0.isLetter }) {
            // Only the host is compared: a server behind a proxy may not know the scheme and port by which it is
            // reached.
            let rest = text[end.upperBound...]
            let authority = rest.prefix { $0 != "/" }
            guard host(authority) == address.host else { return nil }
            text = rest[authority.endIndex...]
            if text.isEmpty { text = "/" }
        }
        guard text.hasPrefix("/"), !text.contains("?"), !text.contains("#") else { return nil }
        var parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        if parts.last == "" { parts.removeLast() }
        var names: [FileName] = []
        for part in parts {
            // An encoded slash does not end a name, and makes it invalid.
            guard let bytes = PercentText.decoded(part) else { return nil }
            let name = FileName(bytes: bytes)
            guard name.isValid else { return nil }
            names.append(name)
        }
        guard names.starts(with: address.path) else { return nil }
        return Array(names.dropFirst(address.path.count))
    }

    private static func host(_ authority: Substring) -> String {
        var host = authority[(authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex)...]
        if host.hasPrefix("[") {
            host = host.prefix { $0 != "]" }
            return host.lowercased() + "]"
        }
        host = host.prefix { $0 != ":" }
        return host.lowercased()
    }
}
