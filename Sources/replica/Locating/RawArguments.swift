import Glibc

/// The bytes of command line arguments. Swift's strings replace invalid UTF-8, but file names are bytes.
enum RawArguments {
    private static let odd: [String: [UInt8]] = {
        var found: [String: [UInt8]] = [:]
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let bytes = UnsafeBufferPointer(start: argument, count: strlen(argument)).map(UInt8.init(bitPattern:))
            if String(validating: bytes, as: UTF8.self) == nil { found[String(cString: argument)] = bytes }
        }
        return found
    }()

    /// The bytes that an argument had before it became a string.
    static func bytes(_ argument: String) -> [UInt8] {
        odd[argument] ?? Array(argument.utf8)
    }
}
