import PathStore

/// A server's features, determined by tests with our own files, because its announcement is not reliable.
struct ServerAbilities: Hashable, Sendable {
    /// Whether a hard link fails if the target exists: then a create can be atomic.
    var linksExclusively = false
    var keepsModes = true
    var keepsTimes = true
    var keepsSymlinks = true
    var isCaseSensitive = true

    /// Tests them in the store's folder. If nothing can be created there, the safest assumptions are made.
    static func tried(_ session: SFTPSession) async throws(RequestFailure) -> ServerAbilities {
        var abilities = ServerAbilities()
        let (file, link, symlink) = (session.trials[0], session.trials[1], session.trials[2])
        let handle: RemoteHandle
        let moment = ContinuousClock.now
        do throws(RequestFailure) {
            handle = try await session.send(.open(file, [.write, .create, .exclusive], mode: 0o600)).handle()
        } catch {
            guard case .status = error else { throw error }
            return abilities
        }
        let made = session.send(.fstat(handle.bytes))
        let wanted = SFTPAttributes(
            mode: 0o640, times: SFTPAttributes.Times(access: 1_000_000_000, modification: 1_000_000_000))
        let set = session.send(.set(wanted, ofHandle: handle.bytes))
        let changed = session.send(.fstat(handle.bytes))
        let closed = handle.close()
        let links = session.links ? (0..<2).map { _ in session.send(.hardLink(file, at: link)) } : []
        let symlinked = session.send(.makeSymlink(symlink, target: Array("target".utf8)))
        let target = session.send(.readSymlink(symlink))
        let other = session.send(.lstat(TemporaryName.inOtherCase(file)))
        let removed = [file, link, symlink].map { session.send(.remove($0)) }

        if let times = try await attributes(made)?.times { session.clock.note(times.modification, at: moment) }
        _ = try await succeeded(set)
        let found = try await attributes(changed)
        abilities.keepsModes = found?.mode.map { $0 & 0o777 } == 0o640
        abilities.keepsTimes = found?.times?.modification == 1_000_000_000
        _ = try await succeeded(closed)
        var linked: [Bool] = []
        for link in links { linked.append(try await succeeded(link)) }
        abilities.linksExclusively = linked == [true, false]
        abilities.keepsSymlinks = try await succeeded(symlinked)
        if abilities.keepsSymlinks { abilities.keepsSymlinks = try await read(target) == Array("target".utf8) }
        abilities.isCaseSensitive = try await attributes(other) == nil
        for reply in removed { _ = try await succeeded(reply) }
        return abilities
    }

    private static func succeeded(_ reply: PendingReply) async throws(RequestFailure) -> Bool {
        do throws(RequestFailure) { try await reply.done() } catch {
            guard case .status = error else { throw error }
            return false
        }
        return true
    }

    private static func attributes(_ reply: PendingReply) async throws(RequestFailure) -> SFTPAttributes? {
        do throws(RequestFailure) { return try await reply.attributes() } catch {
            guard case .status = error else { throw error }
            return nil
        }
    }

    private static func read(_ reply: PendingReply) async throws(RequestFailure) -> [UInt8]? {
        do throws(RequestFailure) { return try await reply.path() } catch {
            guard case .status = error else { throw error }
            return nil
        }
    }

    /// The properties of a storage on such a server.
    var properties: PathStorageProperties {
        var properties = PathStorageProperties()
        properties.createStrength = linksExclusively ? .atomic : .checked
        (properties.replaceStrength, properties.removeStrength, properties.moveStrength) = (
            .checked, .checked, .checked
        )
        // Versions are sizes and times in seconds.
        properties.changeGrain = 1_000_000_000
        properties.keepsModes = keepsModes
        properties.keepsModificationDates = keepsTimes
        properties.keepsMarks = false
        properties.keepsSymlinks = keepsSymlinks
        properties.isCaseSensitive = isCaseSensitive
        properties.tellsUsage = true
        properties.concurrency = 32
        return properties
    }
}
