import Glibc
import ReplicaControl
import SystemPackage

/// A parsed command line of `mount.replica`.
///
/// The first form is mount(8)'s, the others are used by the `replica` command (docs/CONTROL.md).
enum Invocation: Equatable {
    /// `mount.replica SPEC DIR [-sfnv] [-o OPTS]`
    case mount(MountRequest)
    /// `mount.replica --import NAME DIR URL [-o OPTS]`
    case importDirectory(DomainName, directory: FilePath, store: StoreURL, options: MountOptions)
    /// `mount.replica --add NAME URL [-o OPTS]`
    case add(DomainName, store: StoreURL, options: MountOptions)
    /// `mount.replica --serve NAME [-o OPTS]`
    case serve(DomainName, options: MountOptions)
    /// `mount.replica --remove NAME dirty|downloaded|none`
    case remove(DomainName, keep: RemovalMode)
    /// `mount.replica --test-store URL TEXT [-o credentials=FILE]`: tests the promises whose names contain the text
    case testStore(StoreURL, only: String, options: MountOptions)
    /// `mount.replica --probe URL table|json [-o credentials=FILE]`: probes the features of a store
    case probe(StoreURL, isJSON: Bool, options: MountOptions)
    /// `-h`, `--help`
    case help
    /// `-V`, `--version`
    case version

    /// The flags of one letter. The manual page has each of them (`ManualTests`).
    enum Flag: Character, CaseIterable {
        case sloppy = "s"
        case fake = "f"
        case ignored = "n"
        case verbose = "v"
        case help = "h"
        case version = "V"
        case options = "o"
        case type = "t"
    }

    /// The forms that the `replica` command uses; docs/CONTROL.md has each of them (`ManualTests`).
    enum Form: String, CaseIterable {
        case importDirectory = "--import"
        case add = "--add"
        case serve = "--serve"
        case remove = "--remove"
        case testStore = "--test-store"
        case probe = "--probe"

        /// Whether it answers by a line of JSON on standard output.
        var answers: Bool { self != .testStore && self != .probe }
    }

    /// Whether a command line, valid or not, has a form that answers the `replica` command.
    static func isForCommand(_ arguments: [[UInt8]]) -> Bool {
        arguments.first.flatMap { Form(rawValue: String(decoding: $0, as: UTF8.self)) }?.answers ?? false
    }

    /// What `--help` prints.
    static let helpText = """
        usage: mount.replica SPEC DIR [-sfnv] [-o OPTS]

        SPEC is a domain's name or a store URL (file:///srv/store); DIR is where to mount it.
          -o foreground       stay in the foreground and log to standard error
          -o store=URL        create the domain with this store if it does not exist
          -o create           create the store's directory for a new domain
          -o import=DIR       import this directory the first time; later ignored
          -o state=DIR        where to keep the domain's state instead of the default
          -o cache-max=SIZE, cache-min-free=SIZE      limits for cached content
          -o nohydrate=A:B    programs that get an error instead of triggering downloads,
                              replacing the built-in list of thumbnailers and indexers
          -o enforce_caps     refuse operations that the store does not allow; noenforce_caps: don't
          -o trust_setid      sync set-user-ID and set-group-ID bits: anyone who can write to the
                              store is trusted like root; notrust_setid: don't
          -o credentials=FILE the store's secrets; must be readable by its owner only
          -o remount          change an existing mount: ro, rw, nosuid, ..., cache-max, cache-min-free
          -o fsname=NAME      what mount and df show as the source instead of the domain's name
          -o ro, suid, dev, noexec, noatime, allow_other, ...   as in mount(8) and mount.fuse3(8)
          -s  ignore unknown options   -f  only check the command line   -n  ignored   -v  verbose log
        """

    /// Parses a command line without the program's name. Throws a one-line message and mount(8)'s exit status.
    /// - Parameter isHere: Whether a path is of an entry of the working directory; replaced in tests.
    init(
        _ arguments: [[UInt8]], isHere: (FilePath) -> Bool = MountRequest.isInWorkingDirectory
    ) throws(MountUsageError) {
        var reader = ArgumentReader(arguments)
        try reader.read()
        if let early = reader.early {
            self = early
            return
        }
        switch reader.form {
        case nil: self = .mount(try MountRequest(reader, isHere))
        case .importDirectory:
            let values = try reader.values("--import NAME DIR URL", 3)
            self = .importDirectory(
                try Self.name(values[0]), directory: try OptionText.absolutePath(values[1], of: "DIR"),
                store: try Self.store(values[2]), options: reader.options)
        case .add:
            let values = try reader.values("--add NAME URL", 2)
            self = .add(try Self.name(values[0]), store: try Self.store(values[1]), options: reader.options)
        case .serve:
            let values = try reader.values("--serve NAME", 1)
            self = .serve(try Self.name(values[0]), options: reader.options)
        case .testStore:
            let values = try reader.values("--test-store URL TEXT", 2)
            let only = String(decoding: values[1], as: UTF8.self)
            self = .testStore(try Self.store(values[0]), only: only, options: reader.options)
        case .probe:
            let values = try reader.values("--probe URL table|json", 2)
            let form = String(decoding: values[1], as: UTF8.self)
            guard ["table", "json"].contains(form) else {
                throw MountUsageError("the format must be table or json")
            }
            self = .probe(try Self.store(values[0]), isJSON: form == "json", options: reader.options)
        case .remove:
            let values = try reader.values("--remove NAME dirty|downloaded|none", 2)
            guard let keep = RemovalMode(rawValue: String(decoding: values[1], as: UTF8.self)) else {
                throw MountUsageError("what to keep must be dirty, downloaded or none")
            }
            self = .remove(try Self.name(values[0]), keep: keep)
        }
    }

    /// The same for strings.
    init(
        _ arguments: [String], isHere: (FilePath) -> Bool = MountRequest.isInWorkingDirectory
    ) throws(MountUsageError) {
        try self.init(arguments.map { Array($0.utf8) }, isHere: isHere)
    }

    /// Whether this process does it itself instead of starting a daemon: checks, removals, and foreground mounts.
    var isDoneHere: Bool {
        switch self {
        case .help, .version, .remove, .testStore, .probe: true
        case .mount(let request): request.isFake || request.options.foreground || request.options.isRemount
        case .importDirectory(_, _, _, let options), .add(_, _, let options), .serve(_, let options):
            options.foreground
        }
    }

    static func name(_ bytes: [UInt8]) throws(MountUsageError) -> DomainName {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw MountUsageError("a domain's name must be UTF-8")
        }
        do { return try DomainName(text) } catch { throw MountUsageError("\(error)") }
    }

    static func store(_ bytes: [UInt8]) throws(MountUsageError) -> StoreURL {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw MountUsageError("\(StoreURLError.notURL)")
        }
        do { return try StoreURL(text) } catch { throw MountUsageError("\(error)") }
    }
}

/// `SPEC DIR [-sfnv] [-o OPTS]`: one mount.
struct MountRequest: Equatable {
    /// The meaning of SPEC.
    enum Source: Equatable {
        /// A domain; with `store=URL` it is created if it does not exist.
        case name(DomainName)
        /// A store, whose domain is created if it does not exist.
        case store(StoreURL)
    }

    let source: Source
    /// As given; may be relative to the working directory.
    let mountpoint: FilePath
    let options: MountOptions
    /// `-f`: check the command line and do nothing.
    let isFake: Bool
    /// `-v`: verbose log.
    let isVerbose: Bool

    fileprivate init(_ reader: ArgumentReader, _ isHere: (FilePath) -> Bool) throws(MountUsageError) {
        let values = try reader.values("SPEC DIR [-sfnv] [-o OPTS]", 2)
        guard !values[1].isEmpty else { throw MountUsageError("the mountpoint can't be empty") }
        mountpoint = OptionText.path(values[1])
        options = reader.options
        isFake = reader.flags.contains(.fake)
        isVerbose = reader.flags.contains(.verbose)
        if values[0].first == UInt8(ascii: "/") {
            // mount(8) turns a name into an absolute path if the working directory has an entry of that name.
            guard isHere(OptionText.path(values[0])) else {
                let path = String(decoding: values[0], as: UTF8.self)
                throw MountUsageError("'\(path)' is neither the name of a domain nor the URL of a store")
            }
            source = .name(try Invocation.name(Array(values[0].split(separator: UInt8(ascii: "/")).last ?? [])))
        } else if StoreURL.looksLikeURL(String(decoding: values[0], as: UTF8.self)) {
            let store = try Invocation.store(values[0])
            if let other = options.store, !other.isSame(as: store) {
                throw MountUsageError("SPEC and store= name different stores")
            }
            source = .store(store)
        } else {
            source = .name(try Invocation.name(values[0]))
        }
    }

    /// Whether a path is of an existing entry of the working directory, without links, as mount(8) writes it.
    static func isInWorkingDirectory(_ path: FilePath) -> Bool {
        guard let here = getcwd(nil, 0) else { return false }
        defer { free(here) }
        var status = stat()
        // A dead mount is there too.
        let isThere = lstat(path.string, &status) == 0 || errno != ENOENT
        return isThere && path.removingLastComponent() == FilePath(platformString: here)
    }
}

/// Splits a command line into positional values, flags, options and mode.
private struct ArgumentReader {
    private var rest: ArraySlice<[UInt8]>
    private var positional: [[UInt8]] = []
    private var optionTexts: [[UInt8]] = []
    private(set) var flags: Set<Invocation.Flag> = []
    private(set) var form: Invocation.Form?
    private(set) var early: Invocation?
    private(set) var options = MountOptions()

    init(_ arguments: [[UInt8]]) { rest = arguments[...] }

    mutating func read() throws(MountUsageError) {
        while let argument = rest.popFirst() {
            let text = String(decoding: argument, as: UTF8.self)
            if text == "--" {
                positional += rest
                rest = []
            } else if text.hasPrefix("--") {
                try readLong(text)
            } else if text.hasPrefix("-"), text != "-" {
                try readShort(argument)
            } else {
                positional.append(argument)
            }
        }
        guard early == nil else { return }
        for texts in optionTexts { try options.read(texts, sloppy: flags.contains(.sloppy)) }
    }

    /// The positional values, which must be `count`.
    func values(_ form: String, _ count: Int) throws(MountUsageError) -> [[UInt8]] {
        guard positional.count == count else { throw MountUsageError("usage: mount.replica \(form)") }
        return positional
    }

    private mutating func readLong(_ text: String) throws(MountUsageError) {
        switch text {
        case "--help": early = .help
        case "--version": early = .version
        default:
            guard let fresh = Invocation.Form(rawValue: text) else {
                throw MountUsageError("unknown argument '\(text)'; see mount.replica --help")
            }
            if let form { throw MountUsageError("\(form.rawValue) and \(text) are mutually exclusive") }
            form = fresh
        }
    }

    /// Flags in one word, `-sfn`; `-o` and `-t` take the rest of the word or the next one.
    private mutating func readShort(_ argument: [UInt8]) throws(MountUsageError) {
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            let character = Character(Unicode.Scalar(letter))
            guard let flag = Invocation.Flag(rawValue: character) else {
                throw MountUsageError("unknown argument '-\(character)'; see mount.replica --help")
            }
            switch flag {
            case .sloppy, .fake, .ignored, .verbose: flags.insert(flag)
            case .help: early = .help
            case .version: early = .version
            case .options: optionTexts.append(try value(of: "-o", in: &letters))
            case .type:
                // mount(8) passes the type if it was given with a subtype: fuse.replica.
                let type = String(decoding: try value(of: "-t", in: &letters), as: UTF8.self)
                guard ["replica", "fuse.replica"].contains(type) else {
                    throw MountUsageError("this helper mounts type replica, not '\(type)'")
                }
            }
        }
    }

    private mutating func value(
        of flag: String, in letters: inout ArraySlice<UInt8>
    ) throws(MountUsageError) -> [UInt8] {
        defer { letters = [] }
        if !letters.isEmpty { return Array(letters) }
        guard let next = rest.popFirst() else { throw MountUsageError("\(flag) needs a value") }
        return next
    }
}
