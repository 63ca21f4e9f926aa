internal import Glibc
internal import SystemPackage

/// The files that programs have open for writing.
extension Tree {
    /// Notes that a program opened the file for writing.
    func addWriter(_ node: Node) {
        node.writers += 1
        items.writing[node.number] = node
        if node.writers == 1 { note(node) }
    }

    /// Notes that the last writer closed the file.
    func removeWriter(_ node: Node) {
        settle(node)
        forgetSyncedWriter(node)
        // An edited file is checked when it is sent.
        node.mayBeMapped = !node.dirty.contains(.contents) && isOpenForWriting(node)
        if !node.mayBeMapped { stopWatching(node) }
    }

    /// Notes that the file's content is sent while a program may write to it.
    func noteSentWhileWritten(_ name: Node) {
        if !noticesStores { items.holder(of: name).wasSentWhileWritten = true }
    }

    /// The writer whose writes are synced one by one has closed the file, or it is another file by now. What it has written is synced.
    func forgetSyncedWriter(_ node: Node) {
        guard node.hasSyncedWriter else { return }
        node.hasSyncedWriter = false
        for name in items.names(of: node) where name.isInFlight && name.dirtySinceSent.contains(.contents) {
            name.syncedSinceSent = min(name.syncedSinceSent ?? 1, 1)
        }
        for name in items.names(of: node) where name.syncedSize != nil && !name.dirty.contains(.contents) {
            name.syncedSize = nil
            note(name)
        }
    }

    /// Settles all files that are or may be written.
    func settleWrittenFiles() {
        for node in items.writing.values { settleWrittenFile(node) }
    }

    /// Settles a file, and stops watching it if no process has it open for writing any more.
    func settleWrittenFile(_ node: Node) {
        settle(node)
        // Also one that was open when the last run ended, but not before it is compared.
        guard scan == nil, items.writing[node.number] != nil, node.writers == 0, !isOpenForWriting(node) else { return }
        // What an earlier run has sent is not known.
        if !noticesStores, !node.mayBeMapped { node.wasSentWhileWritten = true }
        node.mayBeMapped = false
        // The last stores may have come after the check.
        settle(node)
        stopWatching(node)
    }

    /// Notes it if a process can write to a file that nobody has open for writing.
    func watchMapping(of name: Node, _ file: HeldFile) {
        let node = items.holder(of: name)
        guard node.writers == 0, !node.mayBeMapped, file.isOpenForWriting else { return }
        node.mayBeMapped = true
        items.writing[node.number] = node
        note(node)
    }

    private func stopWatching(_ node: Node) {
        if node.wasSentWhileWritten {
            node.wasSentWhileWritten = false
            sendAgain(node)
        }
        items.writing[node.number] = nil
        node.flags.remove(.writing)
        note(node)
    }

    /// What was stored since the content was sent can't be seen.
    private func sendAgain(_ node: Node) {
        guard !node.isDeleted, node.parent != nil, node.materialization == .whole else { return }
        do throws(ReplicaError) {
            let place = try place(of: node)
            noteContent(FileFingerprint(try errnos { () throws(Errno) in try place.status() }), of: node)
        } catch {
            // The backing file is gone; a scan decides what that means.
        }
    }

    private func isOpenForWriting(_ node: Node) -> Bool {
        guard node.kind == .file, !node.isDeleted, node.parent != nil else { return false }
        do throws(ReplicaError) {
            let place = try place(of: node)
            let file = try errnos { () throws(Errno) in try place.open(O_RDONLY) }
            defer { close(file) }
            return HeldFile(descriptor: file, isReadable: true).isOpenForWriting
        } catch {
            // It is gone, or can't be looked at now: then a program may still write to it.
            return [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .ioError, .interrupted].contains(
                error.errno)
        }
    }
}
