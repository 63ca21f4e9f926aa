import Foundation
import Glibc
import ReplicaControl
import SystemPackage
import Testing

@testable import mount_replica

/// The output of `replica list`, `status`, `pending`, `conflicts` and `watch`.
@Suite(.serialized) struct StatusCommandTests {
    @Test func aStoppedDomainIsShownWithoutStartingIt() async throws {
        let domain = try FakeDomain()
        let list = try await Programs.replica("list", in: domain.folder)
        #expect(list.output == "photos\tstopped\tfile:///srv/photos\t-\n" && list.code == 0, "\(list)")
        let status = try await Programs.replica("status", "photos", "--json", in: domain.folder)
        let decoded = try ControlCodec.decode(DomainStatus.self, from: status.output.utf8)
        #expect(decoded.state == .stopped && decoded.pending == nil && decoded.pid == nil)
        #expect(decoded.directory == ControlFilePath(domain.state))
    }

    @Test(arguments: ["list", "status"])
    func aDaemonThatStopsDuringARequestCountsAsStopped(command: String) async throws {
        let domain = try FakeDomain()
        let socket = try ControlSocket.listen(state: domain.state)
        Thread.detachNewThread {
            // Like a daemon that is stopping: the connection is accepted and closed.
            while case let one = accept(socket.rawValue, nil, nil), one >= 0 { close(one) }
        }
        let result = try await Programs.replica(command, in: domain.folder)
        #expect(result.code == 0 && result.errors == "" && result.output.contains("stopped"), "\(result)")
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
        try socket.close()
    }

    @Test func aDomainsStatusIsReadable() async throws {
        let domain = try FakeDomain { _, _ in
            var status = MessageTests.domainStatus
            status.mountpoint = ControlFilePath(bytes: Array("/mnt/a\u{1B}b".utf8))
            (status.items, status.bytes, status.materializedBytes, status.localOnly) = (12, 5 << 20, 1 << 20, 1)
            (status.errors, status.conflicts, status.kept) = (2, 1, 3)
            (status.version, status.reason) = (programVersion, "not sent: a\u{1B}b\nc: Permission denied")
            return .domain(status)
        }
        let result = try await Programs.replica("status", "photos", in: domain.folder)
        #expect(result.code == 0)
        #expect(
            result.output == """
                a               syncing: not sent: a?b?c: Permission denied
                  store         file:///s
                  mounted on    /mnt/a?b
                  daemon        process 7
                  contents      12 items, 5.0 MiB, of which 1.0 MiB here
                  pending       3 items
                  errors        2 items
                  conflicts     1
                  only here     1 item, not kept in the store
                  kept          3 files, in /state/kept
                  now           1 of 2 items, 3 B of 4 B, 5 B/s, 1 s left

                """)
        try await domain.stop()
    }

    /// A daemon continues through an upgrade of the package.
    @Test(
        arguments: [
            (programVersion, "process 7"),
            ("0.0.9", "process 7, of version 0.0.9, while this program is version \(programVersion): "),
            (nil, "process 7, of an older version, while this program is version \(programVersion): "),
        ] as [(String?, String)])
    func aDaemonOfAnotherVersionIsReported(version: String?, line: String) async throws {
        let domain = try FakeDomain { _, _ in
            var status = MessageTests.domainStatus
            status.version = version
            return .domain(status)
        }
        let result = try await Programs.replica("status", "photos", in: domain.folder)
        let advice = line.hasSuffix(": ") ? "unmount and mount it to replace it" : ""
        #expect(result.output.contains("\n  daemon        \(line)\(advice)\n"), "\(result)")
        try await domain.stop()
    }

    @Test func statusJSONHasTheKeysThatScriptsUse() async throws {
        let domain = try FakeDomain { _, _ in .domain(MessageTests.domainStatus) }
        let result = try await Programs.replica("status", "photos", "--json", in: domain.folder)
        #expect(
            result.output == #"{"conflicts":0,"directory":"/state","errors":0,"name":"a","pending":3,"pid":7,"#
                + #""progress":{"bytesDone":3,"bytesPerSecond":5.5,"bytesTotal":4,"itemsDone":1,"itemsPerSecond":0,"#
                + #""itemsTotal":2,"secondsLeft":0.5},"state":"syncing","store":"file:///s"}"# + "\n")
        try await domain.stop()
    }

    @Test func anItemsStatusIsReadable() async throws {
        let domain = try FakeDomain { _, _ in .item(MessageTests.itemStatus) }
        let result = try await Programs.replica("status", "photos:a/b", in: domain.folder)
        #expect(
            result.output == """
                a/ü b           file, partial
                  size          12 B
                  id            x (number 9)
                  pending       content
                  version       content 1, metadata 2
                  error         no (serverUnreachable, 2 tries)
                  next try      2023-11-14T22:13:20Z

                """, "\(result)")
        #expect(domain.service.requests == [.item(path: ControlPath(bytes: "a/b".utf8))])
        try await domain.stop()
    }

    @Test(
        arguments: [
            (DomainState.idle, 0, 0, 0), (.stopped, 0, 0, 0), (.syncing, 0, 0, 0), (.idle, 1, 0, 8), (.idle, 0, 1, 8),
            (.offline, 0, 0, 8), (.disconnected, 0, 0, 8), (.held, 0, 0, 8),
        ] as [(DomainState, Int, Int, Int32)])
    func checkExitsWithEight(state: DomainState, errors: Int, conflicts: Int, code: Int32) async throws {
        let domain = try FakeDomain { _, _ in
            var status = MessageTests.domainStatus
            (status.state, status.errors, status.conflicts) = (state, errors, conflicts)
            return .domain(status)
        }
        for arguments in [["status", "--check"], ["status", "photos", "--check", "--json"]] {
            let result = try await run(Programs.replica, arguments, environment: domain.environment)
            #expect(result.code == code && result.errors == "", "\(result)")
        }
        try await domain.stop()
    }

    @Test func checkOfAnItemReportsItsError() async throws {
        let domain = try FakeDomain { _, _ in .item(MessageTests.itemStatus) }
        let result = try await Programs.replica("status", "--check", "photos:a", in: domain.folder)
        #expect(result.code == ExitReason.needsAttention.rawValue)
        try await domain.stop()
    }

    @Test func longListsAreSentInParts() async throws {
        let domain = try FakeDomain { request, events in
            for _ in 0..<3 { try await events.send(.items([MessageTests.itemStatus, MessageTests.itemStatus])) }
            return .done
        }
        let text = try await Programs.replica("pending", in: domain.folder)
        #expect(text.output == String(repeating: "a/ü b  [content]  no (serverUnreachable)\n", count: 6))
        let json = try await Programs.replica("materialized", "--json", in: domain.folder)
        let lines = json.output.split(separator: "\n")
        #expect(lines.count == 6)
        for line in lines {
            #expect(try ControlCodec.decode(ItemStatus.self, from: line.utf8) == MessageTests.itemStatus)
        }
        try await domain.stop()
    }

    @Test func changesHaveSignsAndAnAnchor() async throws {
        let domain = try FakeDomain { _, events in
            for event in MessageTests.events.prefix(3) { try await events.send(event) }
            return .anchor("7.9")
        }
        let text = try await Programs.replica("pending", "--since", "7.8", in: domain.folder)
        #expect(
            text.output == """
                + a/ü b  [content]  no (serverUnreachable)
                - a/\u{FFFD}
                - (gone)  x
                - (gone)  number 11
                anchor 7.9

                """)
        let json = try await Programs.replica("pending", "--since", "7.8", "--json", in: domain.folder)
        #expect(
            json.output.split(separator: "\n").dropFirst(2) == [
                #"{"left":{"number":9,"path":[97,47,255]}}"#, #"{"left":{"id":"x","number":10}}"#,
                #"{"left":{"number":11}}"#, #"{"anchor":"7.9"}"#,
            ])
        try await domain.stop()
    }

    /// A path is printed so that a program can use it.
    @Test func anItemIsFoundByItsID() async throws {
        for (mountpoint, path, line) in [
            ("/mnt", MessageTests.odd, [UInt8]("/mnt/a/".utf8) + [0xFF, 0x0A]), ("/mnt", .root, Array("/mnt\n".utf8)),
            ("/", MessageTests.path, Array("/a/ü b\n".utf8)), (nil, MessageTests.path, Array("photos:a/ü b\n".utf8)),
        ] as [(String?, ControlPath, [UInt8])] {
            let domain = try FakeDomain { request, _ in
                if request == .hello {
                    let mounted = mountpoint.map { ControlFilePath(bytes: Array($0.utf8)) }
                    return .daemon(DaemonStatus(name: "photos", pid: 7, mountpoint: mounted))
                }
                return .item(ItemStatus(path: path, id: "x", number: 9, kind: .file, state: .partial, size: 12))
            }
            let command = "'\(Programs.replica)' path photos x | od -An -tu1"
            let text = try await run("/bin/bash", "-c", command, environment: domain.environment)
            let bytes = text.output.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0) }
            #expect(text.code == 0 && bytes == line, "\(text)")
            #expect(domain.service.requests == [.find(id: "x"), .hello])
            try await domain.stop()
        }
    }

    /// The names are for programs (`--json`); users get words.
    @Test func fieldsAndEventsHaveReadableNames() async throws {
        let fields = [
            "contents", "filename", "parent", "lastUsedDate", "tags", "favoriteRank", "modificationDate", "mode",
            "extendedAttributes", "deletion",
        ]
        let kinds = [
            "localChange", "localMove", "localDeletion", "remoteChange", "remoteMove", "remoteDeletion", "uploaded",
            "uploadedDeletion", "downloaded", "evicted", "error", "conflict",
            "state", "importDidFinish", "materializedSet", "pendingSet", "unheardOf",
        ]
        let domain = try FakeDomain { request, events in
            for kind in request == .watch ? kinds : [] {
                try await events.send(.change(ChangeEvent(date: MessageTests.date, kind: kind, detail: "why")))
            }
            var item = MessageTests.itemStatus
            item.pending = fields
            item.error?.attempts = 1
            if request == .pending(since: nil) { try await events.send(.items([item])) }
            return .done
        }
        let pending = try await Programs.replica("pending", in: domain.folder)
        #expect(
            pending.output == "a/ü b  [content, name, folder, time of last use, tags, rank among favorites, "
                + "modification time, mode, extended attributes, deletion]  no (serverUnreachable)\n", "\(pending)")
        let watch = try await Programs.replica("watch", in: domain.folder)
        let words = [
            "changed here", "moved here", "deleted here", "changed in the store", "moved in the store",
            "deleted in the store", "uploaded", "deletion uploaded", "downloaded", "evicted", "failed", "conflict",
            "state", "import finished", "set of local items changed", "set of pending items changed",
            "unheardOf",
        ]
        #expect(watch.output == words.map { "2023-11-14T22:13:20Z \($0) why\n" }.joined(), "\(watch)")
        try await domain.stop()
    }

    @Test func conflictsAndEventsArePrintedAsLines() async throws {
        let domain = try FakeDomain { _, events in
            for event in MessageTests.events { try await events.send(event) }
            return .done
        }
        let result = try await Programs.replica("watch", in: domain.folder)
        #expect(
            result.output == """
                a/ü b  [content]  no (serverUnreachable)
                - a/\u{FFFD}
                - (gone)  x
                - (gone)  number 11
                a/ü b  both changed
                  local bytes in a/\u{FFFD}
                2023-11-14T22:13:20Z uploaded a/ü b

                """)
        try await domain.stop()
    }
}
