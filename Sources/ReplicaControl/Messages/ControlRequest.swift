import Glibc
package import SystemPackage

/// The requests to a domain's daemon. docs/CONTROL.md describes each one and its answer.
package enum ControlRequest: Codable, Equatable, Sendable {
    /// The daemon that serves the domain. Answer: `daemon`.
    case hello
    /// Counts and progress of the domain. Answer: `domain`.
    case status
    /// One item. Answer: `item`.
    case item(path: ControlPath)
    /// The item with this identifier in the store. Answer: `item`.
    case find(id: String)
    /// Items that are not uploaded yet. Events: `items`. Answer: `done`. With an anchor: what was added to and removed from
    /// this set since then, or everything for an empty anchor. Events: `items`, `left`. Answer: `anchor`.
    case pending(since: String?)
    /// Items whose content or listing is local; `since`, events and answer as for `pending`.
    case materialized(since: String?)
    /// Unresolved conflicts. Events: `conflicts`. Answer: `done`.
    case conflicts
    /// Resolves the conflict at a path. Answer: `done`.
    case resolve(path: ControlPath, keep: ConflictChoice)
    /// Downloads content: for a folder its listing, one level deep, or with `recursive` everything below it. With `wait` the
    /// answer is sent when the download is complete, otherwise when it has started. Events: `progress`. Answer: `done`.
    case download(path: ControlPath, range: ByteRange?, recursive: Bool?, wait: Bool)
    /// Frees the content's disk space, for a folder that of its subtree; names are kept. With `strict`, a refusal stops it
    /// before anything is evicted. Events: `progress`. Answer: `evicted`.
    case evict(path: ControlPath, strict: Bool)
    /// Evicts everything below a folder and drops the listings of folders in which nothing local is left.
    /// Events: `progress`. Answer: `evicted`.
    case forget(path: ControlPath)
    /// Keeps an item and everything below it local. Answer: `done`, as soon as it is in effect; with `wait` when everything
    /// is downloaded. Events: `progress`.
    case pin(path: ControlPath, wait: Bool? = nil)
    /// Undoes `pin`. Answer: `done`.
    case unpin(path: ControlPath)
    /// Uploads an item and everything below it again, as createItem(mayAlreadyExist). Answer: `done`, immediately.
    case reimport(path: ControlPath)
    /// Uploads fields of an item again, or all that is local; `resend` lists their names. Answer: `done` when the
    /// request is recorded.
    case resend(path: ControlPath, fields: [String]?)
    /// Ends a disconnection. Answer: `done`.
    case connect
    /// Stops all calls to the store until `connect`, or if `temporary` until the daemon is restarted. Answer: `done`.
    case disconnect(reason: String, temporary: Bool?)
    /// Waits until all earlier local changes are uploaded and all changes in the store are applied.
    /// Events: `progress`. Answer: `done`.
    case wait(path: ControlPath)
    /// Retries failed operations now; of all items if no path is given. Answer: `done`.
    case retry(path: ControlPath?)
    /// Approves a held mass deletion. Answer: `done`.
    case approve
    /// Uploads the items of a held mass deletion again. Answer: `restored`.
    case restore
    /// Declares the cause of an error fixed, by its code. Answer: `done`.
    case resolved(code: String)
    /// Reports events until the connection is closed. Events: `change`, `progress`.
    case watch
    /// Mounts the domain with `mount.replica`'s options. Answer: `done` when the mount is live.
    case mount(mountpoint: ControlFilePath, options: [String])
    /// Unmounts and stops the daemon; with `flush`, pending changes are uploaded first. Events: `progress`. Answer: `done`.
    case unmount(flush: Bool)
    /// Unmounts, removes the domain and stops the daemon. Answer: `removed`.
    case remove(keep: RemovalMode)
}

extension ControlRequest {
    /// The item concerned; nil for the whole domain.
    package var path: ControlPath? {
        switch self {
        case .item(let path), .resolve(let path, _), .download(let path, _, _, _), .evict(let path, _),
            .forget(let path), .pin(let path, _), .unpin(let path), .reimport(let path), .resend(let path, _),
            .wait(let path):
            path
        case .retry(let path): path
        case .hello, .status, .find, .pending, .materialized, .conflicts, .connect, .disconnect, .approve, .restore,
            .resolved, .watch, .mount, .unmount, .remove:
            nil
        }
    }
}

extension ControlRequest {
    /// The anchor of a request for a list; nil for a complete list, and for other requests.
    package var since: String? {
        switch self {
        case .pending(let since), .materialized(let since): since
        default: nil
        }
    }
}

/// The side of a conflict that keeps the item's name.
package enum ConflictChoice: String, Codable, CaseIterable, Sendable {
    /// The local bytes take the name; the store's version is dropped.
    case local
    /// The store's version keeps the name; the conflict copy is dropped.
    case remote
    /// Both stay unchanged, and the conflict counts as resolved.
    case both
}

/// The files that stay on disk when a domain is removed (NSFileProviderManager.DomainRemovalMode).
package enum RemovalMode: String, Codable, CaseIterable, Sendable {
    /// Changes that are not uploaded yet are preserved. The default.
    case dirty
    /// All local content is preserved.
    case downloaded
    /// Nothing is preserved, unsent edits included.
    case none
}

/// A range of a file's bytes. Both in bytes, neither negative.
package struct ByteRange: Codable, Equatable, Sendable {
    package var offset: Int64
    package var length: Int64

    /// A range. Neither number may be negative.
    package init(offset: Int64, length: Int64) {
        precondition(offset >= 0 && length >= 0)
        self.offset = offset
        self.length = length
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        offset = try container.decode(Int64.self, forKey: .offset)
        length = try container.decode(Int64.self, forKey: .length)
        if offset < 0 || length < 0 {
            throw DecodingError.dataCorruptedError(
                forKey: .offset, in: container, debugDescription: "a range can't be negative")
        }
    }
}

/// An absolute path of the local filesystem, in bytes; in JSON as ``ControlPath`` is.
package struct ControlFilePath: Hashable, Sendable, Codable {
    /// The path's bytes, with the slash at its start.
    package let bytes: [UInt8]

    /// A path that starts with a slash.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The bytes of a path that starts with a slash.
    package init(_ path: FilePath) {
        bytes = path.withPlatformString { text in
            UnsafeBufferPointer(start: text, count: strlen(text)).map(UInt8.init(bitPattern:))
        }
    }

    /// The path, for system calls.
    package var path: FilePath { FilePath(platformString: bytes.map { CChar(bitPattern: $0) } + [0]) }

    package init(from decoder: any Decoder) throws {
        let path = try ControlPath(from: decoder)
        bytes = [UInt8(ascii: "/")] + path.bytes
    }

    package func encode(to encoder: any Encoder) throws { try encodePath(bytes, to: encoder) }
}
