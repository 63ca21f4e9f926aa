/// A few short texts in one allocation: separately, each would take at least 64 bytes, and there are many items.
struct PackedTexts: Hashable {
    /// Each text behind its length: a byte, or 255 and four bytes, the lowest first.
    private let bytes: [UInt8]

    init(_ texts: [[UInt8]]) {
        let size = texts.reduce(0) { $0 + $1.count + ($1.count < 255 ? 1 : 5) }
        bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            func append(_ byte: UInt8) {
                buffer.initializeElement(at: count, to: byte)
                count += 1
            }
            for text in texts {
                append(UInt8(min(text.count, 255)))
                if text.count >= 255 {
                    for shift in [0, 8, 16, 24] { append(UInt8(truncatingIfNeeded: text.count >> shift)) }
                }
                for byte in text { append(byte) }
            }
        }
    }

    /// The bytes of one of the texts.
    subscript(_ wanted: Int) -> ArraySlice<UInt8> {
        var start = 0
        for index in 0...wanted {
            var length = Int(bytes[start])
            start += 1
            if length == 255 {
                length = (0..<4).reduce(0) { $0 | Int(bytes[start + $1]) << ($1 * 8) }
                start += 4
            }
            if index == wanted { return bytes[start..<start + length] }
            start += length
        }
        return []
    }

    func text(_ wanted: Int) -> String { String(decoding: self[wanted], as: UTF8.self) }

    /// A hash of one of the texts, valid in this process only.
    func hash(_ wanted: Int) -> Int { self[wanted].withUnsafeBytes { Self.hash($0) } }

    /// The hash of a text with these bytes.
    static func hash(of text: String) -> Int {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
    }

    static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }
}
