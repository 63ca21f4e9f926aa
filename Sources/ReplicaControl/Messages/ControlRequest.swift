import Glibc
package import SystemPackage

/// What can be asked of a domain's daemon. docs/CONTROL.md says what each one does and which answer it has.
package enum ControlRequest: Codable, Equatable, Sendable {
    /// Who serves the domain. Answer: `daemon`.
    case hello
    /// Counts and progress of the domain. Answer: `domain`.
    case status
    /// One item. Answer: `item`.
    case item(path: ControlPath)
    /// The item that the store calls so. Answer: `item`.
    case find(id: String)
    /// Items with something not yet in the store. Events: `items`. Answer: `done`. With an anchor what came into this set
    /// and what left it after that, or all for an empty one. Events: `items`, `left`. Answer: `anchor`.
    case pending(since: String?)
    /// Items whose content, or listing, is on this disk; `since`, events and answer as for `pending`.
    case materialized(since: String?)
    /// Unsettled conflicts. Events: `conflicts`. Answer: `done`.
    case conflicts
    /// Settles the conflict at a path. Answer: `done`.
    case resolve(path: ControlPath, keep: ConflictChoice)
    /// Fetches content; a folder's is its listing, one level deep, or with `recursive` all that is below it. `wait`
    /// answers when the bytes are here, else as soon as the fetch is under way. Events: `progress`. Answer: `done`.
    case download(path: ControlPath, range: ByteRange?, recursive: Bool?, wait: Bool)
    /// Gives the content's disk space back; a folder's is its subtree, whose names stay. Strict stops at the first
    /// refusal before anything is evicted. Events: `progress`. Answer: `evicted`.
    case evict(path: ControlPath, strict: Bool)
    /// Evicts what is below a folder and forgets the listings of folders in which nothing is left here.
    /// Events: `progress`. Answer: `evicted`.
    case forget(path: ControlPath)
    /// Keeps the content here always, and that of what is below. Answer: `done`, when this is in force; with `wait` when the
    /// bytes are here. Events: `progress`.
    case pin(path: ControlPath, wait: Bool? = nil)
    /// Undoes `pin`. Answer: `done`.
    case unpin(path: ControlPath)
    /// Sends an item and what is below it to the store again as createItem(mayAlreadyExist). Answer: `done` at once.
    case reimport(path: ControlPath)
    /// Sends fields of an item once more, or all that is here of it; `resend` has their names. Answer: `done` when the
    /// request is kept.
    case resend(path: ControlPath, fields: [String]?)
    /// Ends a disconnection. Answer: `done`.
    case connect
    /// Stops all calls to the store until `connect`, or if `temporary` until the daemon is started anew. Answer: `done`.
    case disconnect(reason: String, temporary: Bool?)
    /// Answers when all that was written before is in the store and all the store had is applied.
    /// Events: `progress`. Answer: `done`.
    case wait(path: ControlPath)
    /// Tries again at once what waits for its next try; all items where no path is given. Answer: `done`.
    case retry(path: ControlPath?)
    /// Lets a held mass deletion go on. Answer: `done`.
    case approve
    /// Has the store get again what it deleted and is held. Answer: `restored`.
    case restore
    /// Says that an error's cause is gone: an error code of docs/CONTROL.md. Answer: `done`.
    case resolved(code: String)
    /// Tells what happens, until the connection is closed. Events: `change`, `progress`.
    case watch
    /// Mounts the domain with `mount.replica`'s options. Answer: `done` when the mount is live.
    case mount(mountpoint: ControlFilePath, options: [String])
    /// Unmounts and ends the daemon; `flush` sends what is pending first. Events: `progress`. Answer: `done`.
    case unmount(flush: Bool)
    /// Unmounts, takes the domain away and ends the daemon. Answer: `removed`.
    case remove(keep: RemovalMode)
}

extension ControlRequest {
    /// The item it is about; nil where it is about the whole domain.
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
    /// The anchor that a list is asked for with; nil for one that is wanted whole, and for what is no list.
    package var since: String? {
        switch self {
        case .pending(let since), .materialized(let since): since
        default: nil
        }
    }
}

/// Which side of a conflict stays under the item's name.
package enum ConflictChoice: String, Codable, CaseIterable, Sendable {
    /// The local bytes take the name; the store's version is dropped.
    case local
    /// The store's version keeps the name; the conflict copy is dropped.
    case remote
    /// Both stay, as they are now, and the conflict counts as settled.
    case both
}

/// What stays on disk when a domain is removed (NSFileProviderManager.DomainRemovalMode).
package enum RemovalMode: String, Codable, CaseIterable, Sendable {
    /// What isn't in the store yet is preserved: the default.
    case dirty
    /// Everything that is on this disk is preserved.
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
