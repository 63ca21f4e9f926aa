import Foundation
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import SFTPStore

/// Servers with invalid answers, simulated by a script in the place of ssh.
@Suite struct SFTPHostileServerTests {
    private static let script = FilePath(#filePath).removingLastComponent().appending("hostile-ssh").string
    private static let (good, bad) = (StoragePath([FileName("good")]), StoragePath([FileName("bad")]))

    private static let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        // Enough for a loaded machine to start Python.
        limits.hello = .seconds(120)
        limits.firstPause = .milliseconds(50)
        limits.mostEntries = 5_000
        return limits
    }()

    private static func open(_ fault: String) async throws(SFTPFailure) -> SFTPStorage {
        var command = SSHCommand()
        (command.program, command.arguments) = (script, [fault])
        var limits = limits
        if fault == "mute" { limits.hello = .seconds(3) }
        // A loaded machine may take as long to answer.
        if ["silence", "half"].contains(fault) { limits.silence = .seconds(3) }
        let address: SFTPAddress
        do { address = try SFTPAddress("hostile/base") } catch { throw .refused("\(error)") }
        return try await SFTPStorage.open(address, command: command, limits: limits)
    }

    private static func run(_ fault: String, _ body: (SFTPStorage) async throws -> Void) async throws {
        let storage = try await open(fault)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(storage)) } catch { outcome = .failure(error) }
        await storage.close()
        try outcome.get()
    }

    /// It ends the connection, and the call fails with an error that proves nothing; the next call uses another
    /// connection.
    @Test(arguments: ["garbage", "length", "number", "kind", "silence", "half", "twice", "ends"])
    func invalidPacketsEndTheConnection(_ fault: String) async throws {
        try await Self.run(fault) { storage in
            for _ in 0..<2 {
                let process = storage.reconnector.process
                do throws(PathStorageError) {
                    let entry = try await storage.entry(at: Self.bad)
                    // The first of two answers counts.
                    #expect(fault == "twice" && entry?.size == 5)
                } catch {
                    guard case .unreachable = error else { throw BrokenPromise("\(error)") }
                }
                let isBack = try await eventually {
                    let entry = try? await storage.entry(at: Self.good)
                    return entry?.size == 5 && storage.reconnector.process != process
                }
                #expect(isBack)
            }
        }
    }

    @Test(arguments: [
        ("dies", "Connection closed by remote host"), ("mute", "no answer within"),
        ("version", "version 6 instead of 3"),
        ("banner", "instead of an SFTP server, this answered: 'Welcome"),
    ])
    func anotherProgramIsUnreachable(_ fault: String, _ text: String) async throws {
        do throws(SFTPFailure) {
            await (try Self.open(fault)).close()
            Issue.record("it was opened")
        } catch {
            #expect(error == .unreachable(error.message) && error.message.contains(text), "\(error)")
        }
    }

    @Test(arguments: ["more", "nothing", "short", "size"])
    func anInvalidContentIsRejected(_ fault: String) async throws {
        try await Self.run(fault) { storage in
            let buffer = ContentBuffer()
            do throws(PathStorageError) {
                _ = try await storage.read(Self.bad, version: nil, range: nil, into: buffer)
                // The size of the path is less reliable than that of the open file.
                #expect(fault == "size")
            } catch {
                switch error {
                case .unreachable, .changed: break
                default: Issue.record("\(error)")
                }
            }
            #expect(buffer.bytes.count <= 5)
            let again = ContentBuffer()
            let isBack = try await eventually {
                (try? await storage.read(Self.good, version: nil, range: nil, into: again)) != nil
            }
            #expect(isBack)
            #expect(again.bytes == Array("hello".utf8))
        }
    }

    /// Invalid names, and entries of other folders, are not shown.
    @Test func namesCannotLeaveTheirFolder() async throws {
        try await Self.run("names") { storage in
            #expect(storage.properties.createStrength == .checked)
            let page = try await storage.list(.root, isDeep: false, from: nil)
            let names = page.entries.compactMap(\.path.name)
            #expect(names == [FileName("good"), FileName(bytes: [0xFF, 0xFE]), FileName("good")])
            #expect(page.entries.allSatisfy { $0.path.parent == .root })
            let folder = "/dev/shm/replica-sftp-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let store = try PathStore(storage, folder: folder)
            let items = try await store.enumerateItems(in: .root, from: nil).items.map(\.filename)
            #expect(items.sorted() == [FileName("good"), FileName(bytes: [0xFF, 0xFE])].sorted())
            try FileManager.default.removeItem(atPath: folder)
            // Its message is safe for a terminal.
            let error = try await failure {
                let absent = StoragePath([FileName("absent")])
                _ = try await storage.make(absent, kind: .folder, attributes: PathAttributes())
            }
            #expect(!"\(error)".contains("\u{1B}") && "\(error)".contains("[2Jno"))
        }
    }

    @Test(arguments: ["endless", "same", "empty", "count"])
    func anInvalidListingIsAnError(_ fault: String) async throws {
        try await Self.run(fault) { storage in
            let error = try await failure { _ = try await storage.list(.root, isDeep: false, from: nil) }
            switch error {
            case .unavailable(let text): #expect(text.contains("more than 5000 entries"))
            case .unreachable: #expect(fault == "empty" || fault == "count")
            default: Issue.record("\(error)")
            }
        }
    }
}
