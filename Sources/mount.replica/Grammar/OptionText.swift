import SystemPackage

/// The grammar inside `-o`: lists, keys, values, sizes, paths.
enum OptionText {
    /// Splits at commas. In a value `\,` is a comma and `\\` a backslash; any other backslash is literal.
    static func split(_ list: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = [[]]
        var source = list[...]
        while let byte = source.popFirst() {
            if byte == UInt8(ascii: "\\"), let next = source.first, next == byte || next == UInt8(ascii: ",") {
                parts[parts.count - 1].append(next)
                source.removeFirst()
            } else if byte == UInt8(ascii: ",") {
                parts.append([])
            } else {
                parts[parts.count - 1].append(byte)
            }
        }
        return parts
    }

    /// One option, as written in a list.
    static func escaped(_ option: [UInt8]) -> [UInt8] {
        option.flatMap { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
    }

    /// `key=value`, or a key alone.
    static func keyAndValue(_ option: [UInt8]) -> (key: String, value: [UInt8]?) {
        guard let equals = option.firstIndex(of: UInt8(ascii: "=")) else {
            return (String(decoding: option, as: UTF8.self), nil)
        }
        return (String(decoding: option[..<equals], as: UTF8.self), Array(option[(equals + 1)...]))
    }

    /// The value, which must be present and not empty.
    static func expect(_ value: [UInt8]?, of key: String) throws(MountUsageError) -> [UInt8] {
        guard let value, !value.isEmpty else { throw MountUsageError("option '\(key)' needs a value") }
        return value
    }

    /// Rejects a value for an option that takes none.
    static func expectNone(_ value: [UInt8]?, of key: String) throws(MountUsageError) {
        if value != nil { throw MountUsageError("option '\(key)' takes no value") }
    }

    /// An absolute path: under mount(8) or systemd the working directory is not the user's.
    static func absolutePath(_ value: [UInt8]?, of key: String) throws(MountUsageError) -> FilePath {
        let bytes = try expect(value, of: key)
        guard bytes.first == UInt8(ascii: "/") else { throw MountUsageError("'\(key)' needs an absolute path") }
        return path(bytes)
    }

    /// A path of these bytes, which contain no NUL because they come from a command line.
    static func path(_ bytes: [UInt8]) -> FilePath {
        FilePath(platformString: bytes.map { CChar(bitPattern: $0) } + [0])
    }

    private static let shifts: [String: UInt64] = [
        "": 0, "b": 0, "k": 10, "kb": 10, "kib": 10, "m": 20, "mb": 20, "mib": 20, "g": 30, "gb": 30, "gib": 30,
        "t": 40, "tb": 40, "tib": 40,
    ]

    /// A size in bytes: a number followed by K, M, G or T for powers of 1024; `KiB` and `KB` mean the same as `K`.
    static func size(_ value: [UInt8]?, of key: String) throws(MountUsageError) -> UInt64 {
        let text = String(decoding: try expect(value, of: key), as: UTF8.self)
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text[digits.endIndex...].lowercased()
        guard let number = UInt64(digits), let shift = shifts[suffix] else {
            throw MountUsageError("option '\(key)' needs a size such as 500M or 10G, not '\(text)'")
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
        guard !overflow else { throw MountUsageError("option '\(key)': '\(text)' is too large") }
        return bytes
    }
}
