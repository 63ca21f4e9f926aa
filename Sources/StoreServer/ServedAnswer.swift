import Foundation
import PathStore
import ProcessStore
import ReplicaModel

/// A line for the daemon: an answer, or the progress of a call.
struct ServedAnswer: Encodable, Sendable {
    var id: Int64?
    var result: Result?
    var error: Failure?
    var progress: Int64?
    var wrote: [Int64]?

    struct Result: Encodable, Sendable {
        var entry: Entry?
        var entries: [Entry]?
        var next: String?
        var leftOut: LeftOut?
        var space: SpaceFigures?

        private enum Key: String, CodingKey {
            case entry, entries, next, leftOut
        }

        func encode(to encoder: any Encoder) throws {
            // The numbers are members of the result itself.
            if let space { return try space.encode(to: encoder) }
            var container = encoder.container(keyedBy: Key.self)
            try container.encodeIfPresent(entry, forKey: .entry)
            try container.encodeIfPresent(entries, forKey: .entries)
            try container.encodeIfPresent(next, forKey: .next)
            try container.encodeIfPresent(leftOut, forKey: .leftOut)
        }
    }

    /// What a listing leaves out.
    struct LeftOut: Encodable, Sendable {
        let count: Int
        let name: String

        /// - Returns: Nil if it is nothing.
        init?(_ names: LeftOutNames) {
            guard let example = names.example else { return nil }
            (count, name) = (names.count, example)
        }
    }

    struct Failure: Encodable, Sendable {
        var code: String
        var message: String?
        var after: Double?
        var entry: Entry?
    }

    struct Entry: Encodable, Sendable {
        let entry: PathEntry

        private enum Key: String, CodingKey {
            case path, path64, kind, version, size, mode, mtime, mark, target, target64, id
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try entry.path.wire.encode(into: &container, .path, .path64)
            switch entry.kind {
            case .file:
                try container.encode("file", forKey: .kind)
                try container.encode(entry.size, forKey: .size)
            case .folder: try container.encode("folder", forKey: .kind)
            case .symlink(let target):
                try container.encode("symlink", forKey: .kind)
                try WireText(target).encode(into: &container, .target, .target64)
            }
            try container.encodeIfPresent(entry.version, forKey: .version)
            try container.encodeIfPresent(entry.attributes.mode, forKey: .mode)
            try container.encodeIfPresent(entry.attributes.modificationDate?.wire, forKey: .mtime)
            try container.encodeIfPresent(entry.attributes.mark, forKey: .mark)
            try container.encodeIfPresent(entry.identity, forKey: .id)
        }
    }
}

extension ServedAnswer.Failure {
    init(_ error: PathStorageError) {
        switch error {
        case .notFound: self.init(code: "notFound")
        case .taken(let entry): self.init(code: "taken", entry: entry.map(ServedAnswer.Entry.init))
        case .changed(let entry): self.init(code: "changed", entry: entry.map(ServedAnswer.Entry.init))
        case .notEmpty: self.init(code: "notEmpty")
        case .notAuthenticated(let text): self.init(code: "notAuthenticated", message: text)
        case .insufficientQuota(let text): self.init(code: "insufficientQuota", message: text)
        case .readOnly(let text): self.init(code: "readOnly", message: text)
        case .busy(let seconds): self.init(code: "busy", after: seconds)
        case .unavailable(let text): self.init(code: "itemUnavailable", message: text)
        case .refused(let text): self.init(code: "cannotSynchronize", message: text)
        case .unsupported(let text): self.init(code: "unsupported", message: text)
        case .unreachable(let text): self.init(code: "serverUnreachable", message: text)
        case .cancelled: self.init(code: "cancelled")
        }
    }

    init(_ failure: StoreFailure) {
        switch failure {
        case .unreachable(let text): self.init(code: "serverUnreachable", message: text)
        case .notAuthenticated(let text): self.init(code: "notAuthenticated", message: text)
        case .untrustedServer(let text): self.init(code: "untrustedServer", message: text)
        case .refused(let text): self.init(code: "cannotSynchronize", message: text)
        case .busy(let pause, let text): self.init(code: "busy", message: text, after: pause)
        }
    }
}

/// Says that the store is still being opened.
struct OpeningLine: Encodable, Sendable {
    let opening = true
}

/// Says that something may have changed.
struct SignalLine: Encodable, Sendable {
    /// Nil for anywhere.
    let folder: StoragePath?

    private enum Key: String, CodingKey {
        case signal
    }

    private enum Place: String, CodingKey {
        case path, path64
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var place = container.nestedContainer(keyedBy: Place.self, forKey: .signal)
        try folder?.wire.encode(into: &place, .path, .path64)
    }
}

/// The first line of a store.
struct HelloAnswer: Encodable, Sendable {
    let `protocol` = 1
    let level = "path"
    let name: String
    let properties: Properties

    /// Large: a field for each property of the protocol.
    struct Properties: Encodable, Sendable {
        let guards: [String: String]
        let keeps: [String]
        let changeGrain: Double
        let listsAttributes: Bool
        let listsDeep: Bool
        let ids: Bool
        let folderVersions: Bool
        let ranges: Bool
        let signals: Bool
        let usage: Bool
        let caseSensitive: Bool
        let longestName: Int
        let concurrency: Int

        init(_ properties: PathStorageProperties, hasSignals: Bool) {
            guards = [
                "create": properties.createStrength.rawValue, "replace": properties.replaceStrength.rawValue,
                "remove": properties.removeStrength.rawValue, "move": properties.moveStrength.rawValue,
            ]
            let kept = [
                ("mode", properties.keepsModes), ("mtime", properties.keepsModificationDates),
                ("mark", properties.keepsMarks), ("symlink", properties.keepsSymlinks),
            ]
            keeps = kept.filter(\.1).map(\.0)
            changeGrain = Double(properties.changeGrain) / 1e9
            listsAttributes = properties.listsAttributes
            listsDeep = properties.listsDeep
            ids = properties.hasIdentities
            folderVersions = properties.foldersTellChanges
            ranges = properties.fetchesRanges
            signals = hasSignals
            usage = properties.tellsUsage
            caseSensitive = properties.isCaseSensitive
            longestName = properties.longestName
            concurrency = properties.concurrency
        }
    }
}

/// The line of a store that can't be opened.
struct HelloFailure: Encodable, Sendable {
    let error: ServedAnswer.Failure
}
