import HTTPClient
import HTTPStorage
import PercentEncoding

/// A page of `ListObjectsV2`, validated as far as possible.
struct ListAnswer {
    struct Object {
        var key: [UInt8]
        var tag: String
        var size: Int64
        /// As text, like in the answer.
        var modified: String
    }

    var objects: [Object] = []
    var prefixes: [[UInt8]] = []
    /// The token of the next page; nil for the last.
    var next: String?

    /// The maximum length of the token of the next page, in bytes.
    private static let longestToken = 8_192

    /// - Returns: Nil if it is not a complete, valid page.
    init?(_ body: [UInt8], bucket: String, prefix: [UInt8]) {
        guard let root = XMLReader.read(body), root.name == "ListBucketResult" else { return nil }
        if let name = root["Name"]?.text, !name.isEmpty, name != bucket { return nil }
        let isEncoded = root["EncodingType"]?.text == "url"
        func bytes(_ element: XMLElement?) -> [UInt8]? {
            guard let text = element?.text else { return nil }
            return isEncoded ? PercentText.decoded(text, plusIsSpace: true) : Array(text.utf8)
        }
        // Some servers encode the keys but not the repeated request.
        guard (root["Prefix"]?.bytes ?? []) == prefix || bytes(root["Prefix"]) == prefix else { return nil }
        for element in root.children {
            switch element.name {
            case "Contents":
                guard let key = bytes(element["Key"]), key.starts(with: prefix),
                    let tag = EntityTag.value(element["ETag"]?.text ?? ""),
                    let size = HTTPHead.size(element["Size"]?.text ?? "")
                else { return nil }
                objects.append(
                    Object(key: key, tag: tag, size: size, modified: element["LastModified"]?.text ?? ""))
            case "CommonPrefixes":
                guard let key = bytes(element["Prefix"]), key.starts(with: prefix) else { return nil }
                prefixes.append(key)
            default: continue
            }
        }
        if let count = root["KeyCount"]?.text, HTTPHead.size(count) != Int64(objects.count + prefixes.count) {
            return nil
        }
        switch root["IsTruncated"]?.text {
        case "false": next = nil
        case "true":
            guard let token = root["NextContinuationToken"]?.text, (1...Self.longestToken).contains(token.utf8.count)
            else { return nil }
            next = token
        default: return nil
        }
    }
}
