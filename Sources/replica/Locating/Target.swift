import Glibc
import ReplicaControl
import SystemPackage

/// The target of a command: a domain, and possibly an item in it.
struct Target {
    let domain: DomainLocation
    let path: ControlPath

    /// `NAME:PATH` if there is a domain of this name or no file of this name, otherwise a path below a mount.
    static func item(_ text: String) throws -> Target {
        let domains = Domains()
        let bytes = RawArguments.bytes(text)
        if let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") {
            let name = String(text[..<colon])
            if try domains.has(name) || !isThere(bytes, domains) {
                let start = (bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0) + 1
                return Target(domain: try domains.named(name), path: ControlPath(bytes: bytes[start...]))
            }
        }
        return try mounted(bytes, in: domains)
    }

    private static func isThere(_ path: [UInt8], _ domains: Domains) throws -> Bool {
        try refuseHung(path, try mounts(domains.all()))
        var status = stat()
        return lstat(path.map { CChar(bitPattern: $0) } + [0], &status) == 0
    }

    /// A domain's name, or an item.
    static func domainOrItem(_ text: String) throws -> (target: Target, isDomain: Bool) {
        let domains = Domains()
        if try domains.has(text) { return (Target(domain: try domains.named(text), path: .root), true) }
        if !text.contains("/"), !text.contains(":"), try !isThere(RawArguments.bytes(text), domains) {
            _ = try domains.named(text)
        }
        return (try item(text), false)
    }

    /// A domain, and its mount if its state records one.
    private typealias Mount = (domain: DomainLocation, record: MountRecord?)

    private static func mounts(_ domains: [DomainLocation]) -> [Mount] {
        domains.map { ($0, MountRecord.read(state: $0.state)) }
    }

    /// The mount that a path is in.
    private static func meant(_ path: [UInt8], _ mounts: [Mount]) -> DomainLocation? {
        mounts.filter { $0.record.map { Self.path(of: path, in: $0.path) != nil } ?? false }
            .max { $0.record?.path.bytes.count ?? 0 < $1.record?.path.bytes.count ?? 0 }?.domain
    }

    /// Looking up a path in a mount whose daemon hangs would never end, so the daemon is asked first.
    /// - Throws: `timedOut` if it does not answer.
    private static func refuseHung(_ path: [UInt8], _ mounts: [Mount]) throws {
        if let domain = meant(AbsolutePath.asTyped(path), mounts) { _ = try DaemonProbe.hello(domain) }
    }

    /// The domain whose mount contains the path. Only that domain's daemon is asked, if its state records the mount.
    private static func mounted(_ bytes: [UInt8], in domains: Domains) throws -> Target {
        let mounts = try mounts(domains.all())
        try refuseHung(bytes, mounts)
        let absolute = try AbsolutePath.ofEntry(bytes)
        let meant = meant(absolute, mounts)
        if let meant, let found = try target(absolute, meant, DaemonProbe.hello(meant)) { return found }
        let rest = mounts.filter { $0.record == nil }.map(\.domain)
        for (domain, daemon) in zip(rest, DaemonProbe.hellos(rest)) {
            if let found = target(absolute, domain, daemon) { return found }
        }
        let shown = String(decoding: bytes, as: UTF8.self)
        if let meant {
            throw ControlFailure(
                .notInDomain,
                "\(shown): no daemon serves '\(meant.name)' any more; 'replica mount \(meant.name) DIR' mounts it again"
            )
        }
        throw ControlFailure(
            .notInDomain, "\(shown) is not in a mounted domain; use NAME:PATH for domains that are not mounted")
    }

    /// An item's path in the mount, or `NAME:PATH` without a mount, as accepted by ``item(_:)``.
    static func words(for path: ControlPath, name: String, mountpoint: ControlFilePath?) -> [UInt8] {
        guard let mountpoint else { return Array("\(name):".utf8) + path.bytes }
        let slash = UInt8(ascii: "/")
        return mountpoint.bytes + (path.bytes.isEmpty || mountpoint.bytes == [slash] ? [] : [slash]) + path.bytes
    }

    private static func target(_ path: [UInt8], _ domain: DomainLocation, _ daemon: DaemonStatus?) -> Target? {
        guard let mountpoint = daemon?.mountpoint, let rest = Self.path(of: path, in: mountpoint) else { return nil }
        return Target(domain: domain, path: ControlPath(bytes: rest))
    }

    /// The part of a path below a mountpoint; nil if it is not below it.
    private static func path(of path: [UInt8], in mountpoint: ControlFilePath) -> ArraySlice<UInt8>? {
        let slash = UInt8(ascii: "/")
        guard path.starts(with: mountpoint.bytes) else { return nil }
        let rest = path[mountpoint.bytes.count...]
        return rest.isEmpty || rest.first == slash || mountpoint.bytes == [slash] ? rest : nil
    }
}

/// Makes paths given by the user absolute.
enum AbsolutePath {
    /// With links resolved in all but the last component, which may itself be an item that is a link.
    static func ofEntry(_ bytes: [UInt8]) throws(ControlFailure) -> [UInt8] {
        guard !bytes.isEmpty else { throw ControlFailure(.usage, "a path can't be empty") }
        var bytes = bytes
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
        let name = Array(bytes[(slash.map { $0 + 1 } ?? 0)...])
        if name.isEmpty || name == Array(".".utf8) || name == Array("..".utf8) { return try resolved(bytes) }
        let folder = try resolved(slash.map { $0 == 0 ? Array("/".utf8) : Array(bytes[..<$0]) } ?? Array(".".utf8))
        return folder + (folder.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name
    }

    /// Without looking at the disk: no link is resolved.
    static func asTyped(_ bytes: [UInt8]) -> [UInt8] {
        var folder: [UInt8] = []
        if bytes.first != UInt8(ascii: "/"), let here = getcwd(nil, 0) {
            defer { free(here) }
            folder = UnsafeBufferPointer(start: here, count: strlen(here)).map(UInt8.init(bitPattern:))
        }
        return [UInt8(ascii: "/")] + ControlPath(bytes: folder + [UInt8(ascii: "/")] + bytes).bytes
    }

    /// A directory's path with all links resolved, except for a directory that can't be examined: a dead mount.
    static func ofDirectory(_ bytes: [UInt8]) throws(ControlFailure) -> [UInt8] {
        do { return try resolved(bytes) } catch { return try ofEntry(bytes) }
    }

    private static func resolved(_ bytes: [UInt8]) throws(ControlFailure) -> [UInt8] {
        let path = bytes.map { CChar(bitPattern: $0) } + [0]
        guard let found = realpath(path, nil) else {
            let reason = Errno(rawValue: errno)
            throw ControlFailure(.noSuchItem, "\(String(decoding: bytes, as: UTF8.self)): \(reason)")
        }
        defer { free(found) }
        return UnsafeBufferPointer(start: found, count: strlen(found)).map(UInt8.init(bitPattern:))
    }
}
