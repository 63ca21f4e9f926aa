/// Names of systemd's units, escaped as systemd-escape(1) does it.
enum UnitName {
    /// The longest name of a unit, in bytes (systemd.unit(5)).
    static let longest = 255

    /// The unit that serves a domain: `replica@NAME.service`; nil if the name is too long for one.
    static func service(of domain: String) -> String? {
        let name = "replica@" + escaped(Array(domain.utf8)) + ".service"
        return name.utf8.count <= longest ? name : nil
    }

    /// The unit of a mount at a path: `home-me-Photos.mount`; nil if the path is too long for one.
    static func mount(at path: [UInt8]) -> String? {
        let slash = UInt8(ascii: "/")
        let parts = path.split(separator: slash)
        let name = (parts.isEmpty ? "-" : escaped(Array(parts.joined(separator: [slash])))) + ".mount"
        return name.utf8.count <= longest ? name : nil
    }

    /// Slashes become dashes; all but ASCII letters and digits, colons, underscores and dots become `\xHH`.
    static func escaped(_ bytes: [UInt8]) -> String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            let character = Character(Unicode.Scalar(byte))
            if byte == UInt8(ascii: "/") {
                text += "-"
            } else if byte < 0x80, character.isLetter || character.isNumber || ":_.".contains(character),
                index > 0 || character != "."
            {
                text.append(character)
            } else {
                text += #"\x"# + hexadecimal(byte)
            }
        }
        return text
    }

    static func hexadecimal(_ byte: UInt8) -> String {
        let digits = Array("0123456789abcdef")
        return String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }
}
