import ReplicaControl
import SystemPackage

/// The options of one mount. mount(8)'s own options for /etc/fstab and for systemd are parsed and ignored.
struct MountOptions: Equatable {
    /// Flags of the VFS that may be set by name, each with the name that clears it.
    static let switches: [(set: String, clear: String)] = [
        ("ro", "rw"), ("nosuid", "suid"), ("nodev", "dev"), ("noexec", "exec"), ("noatime", "atime"),
        ("nodiratime", "diratime"), ("relatime", "norelatime"), ("strictatime", "nostrictatime"),
        ("lazytime", "nolazytime"), ("sync", "async"), ("dirsync", "nodirsync"), ("nosymfollow", "symfollow"),
    ]

    /// Our own options of a mount. The manual page has each of them (`ManualTests`).
    enum Name: String, CaseIterable {
        case store, create, state, foreground, remount, fsname
        case importDirectory = "import"
        case allowOther = "allow_other"

        var takesValue: Bool { [.store, .state, .importDirectory, .fsname].contains(self) }
    }

    /// Options that are only meant for mount(8), systemd or boot scripts.
    static let dropped: Set = [
        "defaults", "auto", "noauto", "nofail", "_netdev", "user", "nouser", "users", "nousers", "owner", "noowner",
        "group", "nogroup", "silent", "loud", "nomand", "mand", "noiversion", "iversion",
    ]

    /// What the kernel's mount table has beside the flags (fuse(4)).
    private static let ofMountTable: Set = [
        "user_id", "group_id", "default_permissions", "max_read", "blksize", "fd", "rootmode", "seclabel", "context",
        "fscontext", "defcontext", "rootcontext",
    ]

    /// What a FUSE filesystem does not allow unless it is mounted with these options.
    private static let grants: Set = ["dev", "suid"]

    /// The ``grants`` that were requested, sorted.
    private(set) var granted: [String] = []
    /// What `mount` and `df` show as the source; nil: the domain's name.
    private(set) var fsName: String?
    /// The VFS flags that are set, by name and in the order of ``switches``. Empty: the kernel's defaults.
    private(set) var vfs: [String] = []
    /// Other users may access the mount (mount.fuse3(8)).
    private(set) var allowOther = false
    /// Stay in the foreground, log to standard error.
    private(set) var foreground = false
    /// A directory to import on the first mount.
    private(set) var importDirectory: FilePath?
    /// The store of a new domain.
    private(set) var store: StoreURL?
    /// Whether to create the store's directory if it does not exist.
    private(set) var createsStore = false
    /// Where the state is kept instead of the default.
    private(set) var state: FilePath?
    /// Whether to change the flags of an existing mount to these.
    private(set) var isRemount = false
    /// Options of the domain rather than of this mount.
    private(set) var domain = StoredDomainOptions()

    /// Whether the mount is read-only.
    var readOnly: Bool { vfs.contains("ro") }

    /// The options that are passed to a running daemon with the `mount` request.
    var textsForDaemon: [String] {
        vfs + granted + (fsName.map { ["fsname=\($0)"] } ?? []) + (allowOther ? ["allow_other"] : []) + domain.texts
    }

    init() {}

    /// Separate options, as in the `mount` request.
    init(texts: [String]) throws(MountUsageError) {
        for text in texts { try read(OptionText.escaped(Array(text.utf8)), sloppy: false) }
    }

    /// Parses a comma-separated list: `ro,x-systemd.automount,cache-max=10G`. Commas and backslashes are escaped with
    /// a backslash. If options contradict each other the last one counts, as in mount(8).
    init(_ text: String, sloppy: Bool = false) throws(MountUsageError) {
        try read(Array(text.utf8), sloppy: sloppy)
    }

    /// Adds a list of options. `sloppy` ignores unknown ones (mount -s).
    mutating func read(_ list: [UInt8], sloppy: Bool) throws(MountUsageError) {
        if OptionText.split(list).contains(Array("remount".utf8)) { isRemount = true }
        for option in OptionText.split(list) where !option.isEmpty {
            let (key, value) = OptionText.keyAndValue(option)
            if key.hasPrefix("x-") || key.hasPrefix("X-") || key == "comment" { continue }
            if value == nil, Self.dropped.contains(key) { continue }
            if try readSwitch(key, value) { continue }
            if try readOwn(key, value) { continue }
            if try domain.read(key, value) { continue }
            // For a remount, mount(8) adds the options of the mount table.
            if isRemount, Self.ofMountTable.contains(key) { continue }
            if !sloppy { throw MountUsageError("unknown option '\(key)'") }
        }
    }

    private mutating func readSwitch(_ key: String, _ value: [UInt8]?) throws(MountUsageError) -> Bool {
        guard let pair = Self.switches.first(where: { $0.set == key || $0.clear == key }) else { return false }
        try OptionText.expectNone(value, of: key)
        let wanted = Self.switches.map(\.set).filter { $0 == pair.set ? key == pair.set : vfs.contains($0) }
        vfs = wanted
        granted = Self.grants.sorted().filter { $0 == key || granted.contains($0) && $0 != pair.clear }
        return true
    }

    private mutating func readOwn(_ key: String, _ value: [UInt8]?) throws(MountUsageError) -> Bool {
        guard let name = Name(rawValue: key) else { return false }
        if !name.takesValue { try OptionText.expectNone(value, of: key) }
        switch name {
        case .allowOther: allowOther = true
        case .foreground: foreground = true
        case .create: createsStore = true
        case .fsname:
            guard let text = String(validating: try OptionText.expect(value, of: key), as: UTF8.self) else {
                throw MountUsageError("option 'fsname' needs a value in UTF-8")
            }
            fsName = text
        case .importDirectory: importDirectory = try OptionText.absolutePath(value, of: key)
        case .state: state = try OptionText.absolutePath(value, of: key)
        case .store: store = try Invocation.store(try OptionText.expect(value, of: key))
        case .remount: break  // Found before all others.
        }
        return true
    }
}
