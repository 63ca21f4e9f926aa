internal import CFuse
internal import Glibc

extension MountOptions {
    /// libfuse's command line, without the options of the mount itself.
    var arguments: [String] { [subtype] }

    /// The option names for flags of mount(2), and whether they set or clear the flag.
    private static let words: [String: (flag: Int, sets: Bool)] = [
        "ro": (MS_RDONLY, true), "rw": (MS_RDONLY, false), "nosuid": (MS_NOSUID, true), "suid": (MS_NOSUID, false),
        "nodev": (MS_NODEV, true), "dev": (MS_NODEV, false), "noexec": (MS_NOEXEC, true), "exec": (MS_NOEXEC, false),
        "sync": (MS_SYNCHRONOUS, true), "async": (MS_SYNCHRONOUS, false), "dirsync": (MS_DIRSYNC, true),
        "noatime": (MS_NOATIME, true), "atime": (MS_NOATIME, false), "nodiratime": (MS_NODIRATIME, true),
        "diratime": (MS_NODIRATIME, false), "relatime": (MS_RELATIME, true), "norelatime": (MS_RELATIME, false),
        "strictatime": (MS_STRICTATIME, true), "nostrictatime": (MS_STRICTATIME, false),
        "lazytime": (lazyTime, true), "nolazytime": (lazyTime, false), "nodirsync": (MS_DIRSYNC, false),
        "nosymfollow": (noSymlinks, true), "symfollow": (noSymlinks, false),
    ]

    /// MS_LAZYTIME and MS_NOSYMFOLLOW, which glibc doesn't name.
    private static let (lazyTime, noSymlinks) = (1 << 25, 1 << 8)

    /// The first of ``extra`` that is no flag of mount(2).
    var unknownWord: String? { extra.first { Self.words[$0] == nil } }

    /// mount(2)'s flags: like libfuse, without set-user-ID programs and devices unless requested.
    private var flags: Int { Self.flags(of: extra + (readOnly ? ["ro"] : [])) }

    static func flags(of words: [String]) -> Int {
        words.reduce(MS_NOSUID | MS_NODEV) { flags, word in
            guard let (flag, sets) = Self.words[word] else { return flags }
            return sets ? flags | flag : flags & ~flag
        }
    }

    /// Provides the arguments of mount(2) for the duration of a call.
    func withMount<Result>(_ body: (inout cfuse_mount) -> Result) -> Result {
        let kernel = (defaultPermissions ? ["default_permissions"] : []) + (allowOther ? ["allow_other"] : [])
        let helper =
            ["fsname=" + escaped(fsName), "subtype=" + escaped(subtype)] + kernel + (readOnly ? ["ro"] : []) + extra
        let data = kernel.map { "," + $0 }.joined()
        return "fuse.\(subtype)".withCString { type in
            fsName.withCString { source in
                data.withCString { data in
                    helper.joined(separator: ",").withCString { options in
                        var mount = cfuse_mount(
                            type: type, source: source, flags: UInt(flags), data: data, options: options)
                        return body(&mount)
                    }
                }
            }
        }
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

/// libfuse's message about a failure, or `fallback` if there is none.
func libraryMessage(_ fallback: String) -> String {
    let text = String(cString: cfuse_log_text())
    return text.isEmpty ? fallback : text
}

/// Provides strings as an argument vector for the duration of a call.
func withArguments<Result>(
    _ words: [String], _ body: (Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var copies: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeMutableBufferPointer { body(Int32(words.count), $0.baseAddress!) }
}
