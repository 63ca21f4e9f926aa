internal import CCrypto
internal import Glibc

/// SHA-256 and HMAC with it, and MD5 for ETags, by libcrypto.
package enum Hash {
    /// The hash of these bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256Stream()
        bytes.withUnsafeBytes { hash.add($0) }
        return hash.finish()
    }

    /// The hash of a range of an open file; nil if it has fewer bytes, or can't be read. Blocks on the disk.
    package static func sha256(_ file: Int32, _ range: Range<Int64>) -> [UInt8]? {
        var hash = SHA256Stream()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
            let count = pread(file, buffer.baseAddress, wanted, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            hash.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        return hash.finish()
    }

    /// MD5, which is not used for security: servers derive ETags from it. Nil if libcrypto forbids it (FIPS).
    package static func ofETags(_ bytes: [UInt8]) -> [UInt8]? {
        var hash = [UInt8](repeating: 0, count: 16)
        var count: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &hash, &count, EVP_md5(), nil) == 1, count == 16 else { return nil }
        return hash
    }

    /// HMAC-SHA-256 (RFC 2104).
    package static func hmac(_ key: [UInt8], _ text: String) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let bytes = Array(text.utf8)
        let isDone = HMAC(EVP_sha256(), key, Int32(clamping: key.count), bytes, bytes.count, &code, &count) != nil
        precondition(isDone && count == 32, "libcrypto has no HMAC")
        return code
    }

    /// Bytes as hexadecimal digits in lower case.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// An incremental hash.
private struct SHA256Stream {
    private let context = EVP_MD_CTX_new()

    init() {
        let isDone = EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
        precondition(isDone, "libcrypto has no SHA-256")
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

    mutating func finish() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        EVP_DigestFinal_ex(context, &hash, nil)
        EVP_MD_CTX_free(context)
        return hash
    }
}
