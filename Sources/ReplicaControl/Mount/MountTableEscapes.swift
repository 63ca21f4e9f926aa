/// A field of fstab(5) or of `/proc/self/mountinfo`.
package enum MountTableEscapes {
    /// Its bytes: blanks, backslashes and number signs are in octal (seq_path in the kernel's proc).
    package static func unescaped(_ field: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(field)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            guard byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(3)
        }
        return bytes
    }
}
