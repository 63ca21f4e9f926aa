/// A component of a path: bytes, never repaired, compared byte by byte (path_resolution(7)).
public struct FileName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 1 to 255 bytes, with no `/` and no NUL, when ``isValid``.
    public let bytes: [UInt8]

    /// A name of these bytes, which are not checked.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A name with the UTF-8 of this text.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// A name from a C string.
    public init(cString: UnsafePointer<CChar>) {
        var length = 0
        while cString[length] != 0 { length += 1 }
        bytes = cString.withMemoryRebound(to: UInt8.self, capacity: length) {
            Array(UnsafeBufferPointer(start: $0, count: length))
        }
    }

    /// Whether a local folder can hold an entry of this name: not empty, `.`, `..`, over 255 bytes, nor with `/` or NUL.
    public var isValid: Bool {
        guard (1...255).contains(bytes.count), bytes != [0x2E], bytes != [0x2E, 0x2E] else { return false }
        return !bytes.contains { $0 == 0 || $0 == 0x2F }
    }

    /// The name for users, with invalid UTF-8 replaced by U+FFFD.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// The name for logs, cut at the maximum length of a name.
    var shortened: String {
        bytes.count > 255 ? String(decoding: bytes.prefix(255), as: UTF8.self) + "…" : description
    }

    /// Calls `body` with the name as a C string, which is valid only during the call.
    @discardableResult
    public func withCString<Result, Failure>(
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var outcome: Swift.Result<Result, Failure>?
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            for index in bytes.indices { buffer[index] = CChar(bitPattern: bytes[index]) }
            buffer[bytes.count] = 0
            do throws(Failure) {
                outcome = .success(try body(UnsafePointer(buffer.baseAddress!)))
            } catch {
                outcome = .failure(error)
            }
        }
        return try outcome!.get()
    }

    public static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
