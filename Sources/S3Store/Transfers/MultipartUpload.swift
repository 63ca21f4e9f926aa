import HTTPClient
import HTTPStorage
import PercentEncoding

/// A multipart upload: invisible until it is complete.
struct MultipartUpload: Sendable {
    /// Identifies an upload that may be left over.
    struct Name: Hashable, Sendable, Codable {
        var key: [UInt8]
        /// Nil until the server has assigned it.
        var identifier: String?
        /// When it was begun, in seconds since 1970 by the server's clock.
        var begin: Int64
        /// Different for each: two uploads of one key may begin in the same second.
        var ticket = UInt64.random(in: 0 ... .max)
    }

    let connection: S3Connection
    let key: [UInt8]
    let identifier: String

    /// The maximum number of parts of an upload.
    static let mostParts: Int64 = 10_000

    /// - Parameter headers: The headers of the object.
    static func begin(
        _ connection: S3Connection, _ key: [UInt8], _ headers: [(name: String, value: String)]
    ) async throws(S3Error) -> MultipartUpload {
        var request = S3Request("POST", key)
        request.query = [("uploads", "")]
        request.headers = headers
        let answer = try await connection.send(request)
        guard let root = XMLReader.read(answer.body), beginnings.contains(root.name),
            let identifier = root["UploadId"]?.text, (1...2_048).contains(identifier.utf8.count)
        else { throw .strange }
        return MultipartUpload(connection: connection, key: key, identifier: identifier)
    }

    /// The names of the answer: S3's, and that of rclone's server.
    private static let beginnings = ["InitiateMultipartUploadResult", "InitiateMultipartUpload"]

    /// - Parameter number: From 1 on.
    /// - Returns: The part's ETag.
    func send(
        _ number: Int, _ body: HTTPRequest.Body, sent: (@Sendable (Int64) -> Void)?
    ) async throws(S3Error) -> String {
        var request = S3Request("PUT", key)
        request.query = query(number)
        (request.body, request.sent, request.mayRepeat) = (body, sent, true)
        let answer = try await connection.send(request)
        guard let tag = EntityTag.value(answer.head["etag"] ?? "") else { throw .strange }
        return tag
    }

    /// Copies a range of an object as a part.
    func copy(_ number: Int, from source: String, tag: String, _ range: Range<Int64>) async throws(S3Error) -> String {
        var request = S3Request("PUT", key)
        request.query = query(number)
        request.headers = [
            ("x-amz-copy-source", source), ("x-amz-copy-source-if-match", "\"\(tag)\""),
            ("x-amz-copy-source-range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"),
        ]
        (request.mayRepeat, request.longestSilence) = (true, 300)
        let answer = try await connection.send(request)
        guard let root = XMLReader.read(answer.body), root.name == "CopyPartResult",
            let tag = EntityTag.value(root["ETag"]?.text ?? "")
        else { throw .strange }
        return tag
    }

    /// The parts that the server has, by number; a part was sent at `modified`, in seconds since 1970, if that is known.
    func parts() async throws(S3Error) -> [Int: (tag: String, size: Int64, modified: Int64?)] {
        var (found, marker) = ([Int: (tag: String, size: Int64, modified: Int64?)](), 0)
        while true {
            var request = S3Request("GET", key)
            request.query = [("uploadId", identifier), ("part-number-marker", "\(marker)")]
            request.longestAnswer = 4 << 20
            let answer = try await connection.send(request)
            guard let root = XMLReader.read(answer.body), root.name == "ListPartsResult" else {
                throw connection.error(in: answer)
            }
            for part in root.children where part.name == "Part" {
                guard let number = part["PartNumber"].flatMap({ Int($0.text) }),
                    let tag = EntityTag.value(part["ETag"]?.text ?? ""),
                    let size = part["Size"].flatMap({ HTTPHead.size($0.text) })
                else { throw .strange }
                found[number] = (tag, size, part["LastModified"].flatMap { ServerTime.listing($0.text) })
            }
            guard root["IsTruncated"]?.text == "true" else { return found }
            // Pages must not go in circles.
            guard let next = root["NextPartNumberMarker"].flatMap({ Int($0.text) }), next > marker,
                next <= Self.mostParts
            else { throw .strange }
            marker = next
        }
    }

    private func query(_ number: Int) -> [(name: String, value: String)] {
        [("partNumber", "\(number)"), ("uploadId", identifier)]
    }

    /// Completes the upload.
    /// - Parameters:
    ///   - tags: The ETags of the parts, in order.
    ///   - condition: The condition header.
    /// - Returns: The ETag of the complete object; nil if the answer has none, and those of the parts don't tell.
    @discardableResult
    func complete(_ tags: [String], _ condition: [(name: String, value: String)]) async throws(S3Error) -> String? {
        var request = S3Request("POST", key)
        request.query = [("uploadId", identifier)]
        request.headers = condition
        let parts = tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>&quot;\(Self.escaped(tag))&quot;</ETag></Part>"
        }
        request.body = .bytes(Array("<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>".utf8))
        request.longestSilence = 300
        let answer = try await connection.send(request)
        // An answer may begin as a success and end as a failure.
        guard let root = XMLReader.read(answer.body), root.name == "CompleteMultipartUploadResult" else {
            throw connection.error(in: answer)
        }
        return EntityTag.value(root["ETag"]?.text ?? "") ?? Self.joined(tags)
    }

    /// The ETag of an object with these parts, as at Amazon and in Ceph, whose answer lacks it: the MD5 of those of the parts.
    private static func joined(_ tags: [String]) -> String? {
        let parts = tags.map(bytes)
        guard parts.allSatisfy({ $0.count == 16 }), let hash = Hash.ofETags(parts.flatMap(\.self)) else { return nil }
        return "\(Hash.hexadecimal(hash))-\(tags.count)"
    }

    /// The bytes of hexadecimal digits; none if it has others.
    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return [] }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Aborts the upload on the server.
    /// - Returns: Whether that succeeded.
    @discardableResult
    func abort() async -> Bool {
        var request = S3Request("DELETE", key)
        request.query = [("uploadId", identifier)]
        request.mayRepeat = true
        let sent = request
        // Also in a cancelled task.
        return await Task {
            do throws(S3Error) { _ = try await connection.send(sent) } catch {
                guard case .complaint(let complaint) = error else { return false }
                return complaint.code == "NoSuchUpload"
            }
            return true
        }.value
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

extension S3Connection {
    /// The unfinished uploads of a key that began after a time.
    func uploads(of key: [UInt8], since moment: Int64) async throws(S3Error) -> [String] {
        var request = S3Request("GET")
        request.query = [
            ("uploads", ""), ("encoding-type", "url"), ("prefix", String(decoding: key, as: UTF8.self)),
        ]
        request.longestAnswer = 4 << 20
        let answer = try await send(request)
        guard let root = XMLReader.read(answer.body), root.name == "ListMultipartUploadsResult" else {
            throw self.error(in: answer)
        }
        let isEncoded = root["EncodingType"]?.text == "url"
        return root.children.compactMap { element in
            guard element.name == "Upload", let text = element["Key"]?.text,
                let begun = element["Initiated"].flatMap({ ServerTime.listing($0.text) }), begun >= moment,
                Array(text.utf8) == key || isEncoded && PercentText.decoded(text, plusIsSpace: true) == key
            else { return nil }
            return element["UploadId"]?.text
        }
    }

    /// The error in an answer that began as a success.
    func error(in answer: HTTPAnswer) -> S3Error {
        var complaint = S3Complaint(answer)
        // The status that the server would have sent if it had known earlier.
        if complaint.code == "PreconditionFailed" { complaint.status = 412 }
        if complaint.code.isEmpty {
            return .strange
        }
        return .complaint(complaint)
    }
}
