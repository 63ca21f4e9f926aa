/// A drop-in for `replica@NAME.service` that makes it mount the domain.
struct UnitText {
    /// `mount.replica`.
    let program: [UInt8]
    let domain: String
    /// Absolute.
    let directory: [UInt8]
    /// Option lists, as after `-o`.
    let options: [[UInt8]]
    /// The variables that locate the domain where the command found it.
    let environment: [String: String]

    /// The file's text; nil if a path or an option is not UTF-8, which no unit can hold.
    var text: String? {
        let words =
            [[UInt8(ascii: ":")] + program, Array(domain.utf8), directory, Array("-o".utf8), Array("foreground".utf8)]
            + options.flatMap { [Array("-o".utf8), $0] }
        let quoted = words.compactMap(Self.quoted)
        guard quoted.count == words.count else { return nil }
        var lines = [
            "# Created by 'replica mount --at-login' or '--at-boot', removed by '--not-at-login' or '--not-at-boot'."
        ]
        lines.append("[Unit]")
        // Of the parent, not of the directory itself, which this unit mounts. The unit stops before the parent is
        // unmounted.
        if let folder = Self.path(directory.prefix(through: directory.lastIndex(of: UInt8(ascii: "/")) ?? 0)) {
            lines.append("RequiresMountsFor=" + folder)
        }
        if let mount = UnitName.mount(at: directory) { lines.append("After=" + mount) }
        lines.append("[Service]")
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
            guard let word = Self.quoted(Array("\(name)=\(value)".utf8)) else { return nil }
            lines.append("Environment=" + word)
        }
        // Replaces the command that serves it unmounted. With the colon, a dollar sign is literal.
        lines += ["ExecStart=", "ExecStart=" + quoted.joined(separator: " ")]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The directory in such a text.
    static func directory(in text: String) -> [UInt8]? {
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("ExecStart=\"") }) else { return nil }
        let words = line.dropFirst("ExecStart=".count).split(separator: "\" \"")
        return words.count > 2 ? unquoted(words[2]) : nil
    }

    /// The bytes of what ``quoted(_:)`` has written, without its quotation marks.
    private static func unquoted(_ word: Substring) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), Array(word.utf8)[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") { rest = rest.dropFirst() }
            guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            if next == UInt8(ascii: "x"), let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(next)
            }
        }
        return bytes
    }

    /// One word of a command line or an assignment (systemd.syntax(7), systemd.service(5)): specifiers, quotes and
    /// escapes are made literal. Nil if it is not UTF-8.
    static func quoted(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var word = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "\"": word += "\\" + String(scalar)
            case "%": word += "%%"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                word += #"\x"# + UnitName.hexadecimal(UInt8(scalar.value))
            default: word.unicodeScalars.append(scalar)
            }
        }
        return word + "\""
    }

    /// A path in a setting where systemd accepts no escapes except a backslash before a literal character; nil if it
    /// can't be written that way.
    private static func path(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\", "\"": "\\" + String(scalar)
            case "%": "%%"
            default: String(scalar)
            }
        }
        return "\"" + escaped.joined() + "\""
    }
}
