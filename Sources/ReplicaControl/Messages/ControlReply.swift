/// The answer to a successful request.
package enum ControlAnswer: Equatable, Sendable {
    case done
    case daemon(DaemonStatus)
    case domain(DomainStatus)
    case item(ItemStatus)
    case evicted(EvictionResult)
    case removed(RemovalResult)
    case restored(RestorationResult)
    /// The anchor for the next request of a list.
    case anchor(String)
}

/// An event of a request in progress.
package enum ControlEvent: Equatable, Sendable {
    /// Counts so far.
    case progress(TransferProgress)
    /// A part of a list; a long list comes in several.
    case items([ItemStatus])
    /// A part of the items removed from a set.
    case left([DepartureStatus])
    /// A part of the list of conflicts.
    case conflicts([ConflictStatus])
    /// An event of the domain (`watch`).
    case change(ChangeEvent)
}

/// The failure of a request: a code for programs, and one line for users.
package struct ControlFailure: Error, Codable, Equatable, Sendable, CustomStringConvertible {
    /// The exit status of `replica`.
    package var code: ExitReason
    /// One line, without a period at its end.
    package var message: String

    /// A failure with its line.
    package init(_ code: ExitReason, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

extension ControlAnswer: Codable {
    private enum Key: String, CodingKey {
        case daemon, domain, item, evicted, removed, restored, anchor
    }

    /// The key identifies the answer; an empty object, or only keys of a newer daemon, is `done`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch container.allKeys.first {
        case nil: self = .done
        case .daemon: self = .daemon(try container.decode(DaemonStatus.self, forKey: .daemon))
        case .domain: self = .domain(try container.decode(DomainStatus.self, forKey: .domain))
        case .item: self = .item(try container.decode(ItemStatus.self, forKey: .item))
        case .evicted: self = .evicted(try container.decode(EvictionResult.self, forKey: .evicted))
        case .removed: self = .removed(try container.decode(RemovalResult.self, forKey: .removed))
        case .restored: self = .restored(try container.decode(RestorationResult.self, forKey: .restored))
        case .anchor: self = .anchor(try container.decode(String.self, forKey: .anchor))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .done: break
        case .daemon(let value): try container.encode(value, forKey: .daemon)
        case .domain(let value): try container.encode(value, forKey: .domain)
        case .item(let value): try container.encode(value, forKey: .item)
        case .evicted(let value): try container.encode(value, forKey: .evicted)
        case .removed(let value): try container.encode(value, forKey: .removed)
        case .restored(let value): try container.encode(value, forKey: .restored)
        case .anchor(let value): try container.encode(value, forKey: .anchor)
        }
    }
}

extension ControlEvent: Codable {
    private enum Key: String, CodingKey {
        case progress, items, left, conflicts, change
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch container.allKeys.first {
        case .progress: self = .progress(try container.decode(TransferProgress.self, forKey: .progress))
        case .items: self = .items(try container.decode([ItemStatus].self, forKey: .items))
        case .left: self = .left(try container.decode([DepartureStatus].self, forKey: .left))
        case .conflicts: self = .conflicts(try container.decode([ConflictStatus].self, forKey: .conflicts))
        case .change: self = .change(try container.decode(ChangeEvent.self, forKey: .change))
        case nil:
            let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "unknown event")
            throw DecodingError.dataCorrupted(context)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .progress(let value): try container.encode(value, forKey: .progress)
        case .items(let value): try container.encode(value, forKey: .items)
        case .left(let value): try container.encode(value, forKey: .left)
        case .conflicts(let value): try container.encode(value, forKey: .conflicts)
        case .change(let value): try container.encode(value, forKey: .change)
        }
    }
}
