internal import CSHA256
internal import Glibc
internal import ReplicaModel
package import SystemPackage
internal import Threads

/// SHA-256 (FIPS 180-4): identifies equal contents without comparing them.
package struct ContentHash {
    private var state: [UInt32] = [
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]
    private var rest: [UInt8] = []
    private var length: UInt64 = 0

    /// The hash of all these bytes.
    package static func of(_ bytes: [UInt8]) -> [UInt8] {
        var hash = ContentHash()
        bytes.withUnsafeBytes { hash.add($0) }
        return hash.finish()
    }

    private static let disk = DiskQueue("replica.hash")

    /// The hash of a content; nil if its file has fewer bytes, or can't be read.
    static func of(_ contents: ItemContents) async -> [UInt8]? {
        await disk.run { () throws(Never) in of(contents.file, size: contents.size) }
    }

    /// The hash of the first `size` bytes of a file; nil if it has fewer, or can't be read.
    static func of(_ file: FileDescriptor, size: Int64) -> [UInt8]? { of(file, 0..<size) }

    /// The hash of a part of a file; nil if the file ends before, or can't be read.
    package static func of(_ file: FileDescriptor, _ range: Range<Int64>) -> [UInt8]? {
        var hash = ContentHash()
        var offset = range.lowerBound
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        while offset < range.upperBound {
            let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
            let count = pread(file.rawValue, buffer.baseAddress, wanted, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            hash.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        return hash.finish()
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        var offset = 0
        if !rest.isEmpty {
            offset = min(64 - rest.count, bytes.count)
            rest.append(contentsOf: bytes[..<offset])
            guard rest.count == 64 else { return }
            rest.withUnsafeBytes { csha256_add(&state, $0.baseAddress, 1) }
            rest.removeAll(keepingCapacity: true)
        }
        let blocks = (bytes.count - offset) / 64
        if blocks > 0 { csha256_add(&state, bytes.baseAddress?.advanced(by: offset), blocks) }
        rest.append(contentsOf: bytes[(offset + blocks * 64)...])
    }

    mutating func finish() -> [UInt8] {
        let bits = length &* 8
        var tail: [UInt8] = [0x80]
        while (rest.count + tail.count) % 64 != 56 { tail.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            tail.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
        tail.withUnsafeBytes { add($0) }
        return state.flatMap { word in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }
}

/// Bytes as hexadecimal digits.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".unicodeScalars)
    var text = String.UnicodeScalarView()
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(text)
}
