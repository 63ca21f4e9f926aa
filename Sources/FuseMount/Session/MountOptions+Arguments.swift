internal import CFuse
internal import Glibc

extension MountOptions {
    /// libfuse's command line, without the options of the mount itself.
    var arguments: [String] { [subtype] }

    /// A flag of mount(2) by an option's name.
    private struct Word {
        let flag: Int
        let sets: Bool
        let audience: Audience

        init(_ flag: Int, _ sets: Bool, _ audience: Audience = .everybody) {
            (self.flag, self.sets, self.audience) = (flag, sets, audience)
        }
    }

    private enum Audience {
        /// fusermount3 accepts the option.
        case everybody
        /// fusermount3 does not accept it, but it has no effect there: it is the default, or concerns the access times of folders, which FUSE
        /// leaves to the filesystem.
        case withoutEffect
        case root
    }

    /// The options of mount(8).
    private static let words: [String: Word] = [
        "ro": Word(MS_RDONLY, true), "rw": Word(MS_RDONLY, false),
        "nosuid": Word(MS_NOSUID, true), "suid": Word(MS_NOSUID, false, .root),
        "nodev": Word(MS_NODEV, true), "dev": Word(MS_NODEV, false, .root),
        "noexec": Word(MS_NOEXEC, true), "exec": Word(MS_NOEXEC, false),
        "sync": Word(MS_SYNCHRONOUS, true), "async": Word(MS_SYNCHRONOUS, false),
        "dirsync": Word(MS_DIRSYNC, true), "nodirsync": Word(MS_DIRSYNC, false, .withoutEffect),
        "noatime": Word(MS_NOATIME, true), "atime": Word(MS_NOATIME, false),
        "nodiratime": Word(MS_NODIRATIME, true, .withoutEffect), "diratime": Word(MS_NODIRATIME, false, .withoutEffect),
        "relatime": Word(MS_RELATIME, true, .withoutEffect), "norelatime": Word(MS_RELATIME, false, .withoutEffect),
        "strictatime": Word(MS_STRICTATIME, true, .root), "nostrictatime": Word(MS_STRICTATIME, false, .withoutEffect),
        "lazytime": Word(lazyTime, true, .root), "nolazytime": Word(lazyTime, false, .withoutEffect),
        "nosymfollow": Word(noSymlinks, true, .root), "symfollow": Word(noSymlinks, false, .withoutEffect),
    ]

    /// MS_LAZYTIME and MS_NOSYMFOLLOW, which glibc doesn't name.
    private static let (lazyTime, noSymlinks) = (1 << 25, 1 << 8)

    /// The first of ``extra`` that is no flag of mount(2).
    var unknownWord: String? { extra.first { Self.words[$0] == nil } }

    /// mount(2)'s flags: like libfuse, without set-user-ID programs and devices unless requested.
    private var flags: Int { Self.flags(of: extra + (readOnly ? ["ro"] : [])) }

    static func flags(of words: [String]) -> Int {
        words.reduce(MS_NOSUID | MS_NODEV) { flags, word in
            guard let word = Self.words[word] else { return flags }
            return word.sets ? flags | word.flag : flags & ~word.flag
        }
    }

    /// Provides the arguments of mount(2) for the duration of a call.
    func withMount<Result>(_ body: (inout cfuse_mount) -> Result) -> Result {
        let kernel = (defaultPermissions ? ["default_permissions"] : []) + (allowOther ? ["allow_other"] : [])
        let accepted = extra.filter { Self.words[$0]?.audience == .everybody }
        let forRoot = extra.first { Self.words[$0]?.audience == .root } ?? ""
        let helper =
            ["fsname=" + escaped(fsName), "subtype=" + escaped(subtype)] + kernel + (readOnly ? ["ro"] : []) + accepted
        let data = kernel.map { "," + $0 }.joined()
        return "fuse.\(subtype)".withCString { type in
            fsName.withCString { source in
                data.withCString { data in
                    helper.joined(separator: ",").withCString { options in
                        forRoot.withCString { forRoot in
                            var mount = cfuse_mount(
                                type: type, source: source, flags: UInt(flags), data: data, options: options,
                                for_root: forRoot)
                            return body(&mount)
                        }
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
