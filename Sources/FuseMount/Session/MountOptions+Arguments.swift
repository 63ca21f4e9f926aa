internal import CFuse
internal import Glibc

extension MountOptions {
    /// What libfuse gets as its command line.
    var arguments: [String] {
        var words = ["fsname=" + escaped(fsName), "subtype=" + escaped(subtype)]
        if readOnly { words.append("ro") }
        if allowOther { words.append("allow_other") }
        if defaultPermissions { words.append("default_permissions") }
        return [subtype, "-o", (words + extra).joined(separator: ",")]
    }

    /// Commas end an option, unless there is a backslash before them.
    private func escaped(_ value: String) -> String {
        var result = ""
        for character in value {
            if character == "," || character == "\\" { result.append("\\") }
            result.append(character)
        }
        return result
    }
}

/// What libfuse said about a failure, or `fallback` when it said nothing.
func libraryMessage(_ fallback: String) -> String {
    let text = String(cString: cfuse_log_text())
    return text.isEmpty ? fallback : text
}

/// Lends strings as an argument vector for the length of a call.
func withArguments<Result>(
    _ words: [String], _ body: (Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var copies: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeMutableBufferPointer { body(Int32(words.count), $0.baseAddress!) }
}
