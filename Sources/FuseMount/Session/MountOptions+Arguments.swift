internal import CFuse
internal import Glibc

extension MountOptions {
    /// What libfuse gets as its command line: the mount is not its affair.
    var arguments: [String] { [subtype] }

    /// A flag of mount(2) that a word stands for.
    private struct Word {
        let flag: Int
        let sets: Bool
        /// Whether fusermount3 takes it.
        let isForAll: Bool
        /// What it does not take is for root, or changes nothing: it is the default, or nobody sets folders' times here.
        let isDefault: Bool

        init(_ flag: Int, _ sets: Bool, isForAll: Bool = true, isDefault: Bool = false) {
            (self.flag, self.sets, self.isForAll, self.isDefault) = (flag, sets, isForAll, isDefault)
        }
    }

    /// Those of mount(8).
    private static let words: [String: Word] = [
        "ro": Word(MS_RDONLY, true), "rw": Word(MS_RDONLY, false),
        "nosuid": Word(MS_NOSUID, true), "suid": Word(MS_NOSUID, false, isForAll: false),
        "nodev": Word(MS_NODEV, true), "dev": Word(MS_NODEV, false, isForAll: false),
        "noexec": Word(MS_NOEXEC, true), "exec": Word(MS_NOEXEC, false),
        "sync": Word(MS_SYNCHRONOUS, true), "async": Word(MS_SYNCHRONOUS, false),
        "dirsync": Word(MS_DIRSYNC, true), "nodirsync": Word(MS_DIRSYNC, false, isForAll: false, isDefault: true),
        "noatime": Word(MS_NOATIME, true), "atime": Word(MS_NOATIME, false),
        "nodiratime": Word(MS_NODIRATIME, true, isForAll: false, isDefault: true),
        "diratime": Word(MS_NODIRATIME, false, isForAll: false, isDefault: true),
        "relatime": Word(MS_RELATIME, true, isForAll: false, isDefault: true),
        "norelatime": Word(MS_RELATIME, false, isForAll: false, isDefault: true),
        "strictatime": Word(MS_STRICTATIME, true, isForAll: false),
        "nostrictatime": Word(MS_STRICTATIME, false, isForAll: false, isDefault: true),
        "lazytime": Word(lazyTime, true, isForAll: false),
        "nolazytime": Word(lazyTime, false, isForAll: false, isDefault: true),
        "nosymfollow": Word(noSymlinks, true, isForAll: false),
        "symfollow": Word(noSymlinks, false, isForAll: false, isDefault: true),
    ]

    /// <linux/mount.h>'s, which Glibc's module lacks.
    private static let noSymlinks = 256
    private static let lazyTime = 1 << 25

    /// The first of ``extra`` that is no flag of mount(2).
    var unknownWord: String? { extra.first { Self.words[$0] == nil } }

    /// mount(2)'s flags: without set-user-id programs and devices unless that is asked for, as libfuse has it.
    private var flags: Int {
        (extra + (readOnly ? ["ro"] : [])).reduce(MS_NOSUID | MS_NODEV) { flags, word in
            guard let word = Self.words[word] else { return flags }
            return word.sets ? flags | word.flag : flags & ~word.flag
        }
    }

    /// Lends what mounting takes for the length of a call.
    func withMount<Result>(_ body: (inout cfuse_mount) -> Result) -> Result {
        let kernel = (defaultPermissions ? ["default_permissions"] : []) + (allowOther ? ["allow_other"] : [])
        let forAll = extra.filter { Self.words[$0]?.isForAll ?? false }
        let forRoot = extra.first { Self.words[$0].map { !$0.isForAll && !$0.isDefault } ?? false } ?? ""
        let helper =
            ["fsname=" + escaped(fsName), "subtype=" + escaped(subtype)] + kernel + (readOnly ? ["ro"] : []) + forAll
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
