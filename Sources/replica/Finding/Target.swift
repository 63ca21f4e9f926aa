import Glibc
import ReplicaControl
import SystemPackage

/// What a command is about: a domain, and an item in it.
struct Target {
    let domain: DomainLocation
    let path: ControlPath

    /// `NAME:PATH` where there is a domain of this name, else a path below a mount.
    static func item(_ text: String) throws -> Target {
        let domains = Domains()
        if let colon = text.firstIndex(of: ":"), try domains.has(String(text[..<colon])) {
            let bytes = RawArguments.bytes(text)
            let start = (bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0) + 1
            return Target(domain: try domains.named(String(text[..<colon])), path: ControlPath(bytes: bytes[start...]))
        }
        return try mounted(RawArguments.bytes(text), in: domains)
    }

    /// A domain's name, or an item.
    static func domainOrItem(_ text: String) throws -> (target: Target, isDomain: Bool) {
        let domains = Domains()
        if try domains.has(text) { return (Target(domain: try domains.named(text), path: .root), true) }
        if !text.contains("/"), !text.contains(":"), access(text, F_OK) != 0 { _ = try domains.named(text) }
        return (try item(text), false)
    }

    private static func mounted(_ bytes: [UInt8], in domains: Domains) throws -> Target {
        let absolute = try AbsolutePath.ofEntry(bytes)
        for domain in try domains.all() {
            guard let mountpoint = DaemonProbe.hello(domain)?.mountpoint else { continue }
            let prefix = mountpoint.bytes
            guard absolute.starts(with: prefix) else { continue }
            let rest = absolute[prefix.count...]
            if rest.isEmpty || rest.first == UInt8(ascii: "/") || prefix == [UInt8(ascii: "/")] {
                return Target(domain: domain, path: ControlPath(bytes: rest))
            }
        }
        let shown = String(decoding: bytes, as: UTF8.self)
        throw ControlFailure(
            .notInDomain, "\(shown) lies in no mounted domain; NAME:PATH names items that aren't mounted")
    }
}

/// Absolute paths of what a person typed.
enum AbsolutePath {
    /// With the links of the folders above resolved, but not the last name: that may be a link that is an item.
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
