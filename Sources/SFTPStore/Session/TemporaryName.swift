import ReplicaModel

/// Names of files during an upload, which are hidden: `.replica-tmp-` and sixteen digits.
enum TemporaryName {
    private static let prefix = Array(".replica-tmp-".utf8)

    static func fresh() -> [UInt8] {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        return prefix + Array((String(repeating: "0", count: 16 - digits.count) + digits).utf8)
    }

    static func isOne(_ name: [UInt8]) -> Bool { name.starts(with: prefix) }

    /// A path that ends with such a name, with the name's case inverted.
    static func inOtherCase(_ path: [UInt8]) -> [UInt8] {
        let name = path.suffix(prefix.count + 16)
        return path.dropLast(name.count) + Array(String(decoding: name, as: UTF8.self).uppercased().utf8)
    }
}
