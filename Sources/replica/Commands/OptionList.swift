/// Text inside an option list.
enum OptionList {
    /// With a backslash before each comma and backslash.
    static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
    }
}
