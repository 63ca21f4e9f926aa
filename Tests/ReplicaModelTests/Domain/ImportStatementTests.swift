import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// import(_:fromDirectoryAt:): statements 1 to 21 of CONFORMANCE.md.
@Suite struct ImportStatementTests {
    private static let files = ["a": "alpha", "d/b": "beta", "d/e/c": "gamma"]

    private static func make(_ path: String) throws { try FileTree.make(path, files) }

    /// A directory to import, and an empty place for a domain.
    private func withSource(_ body: (FilePath, StateFolders) throws -> Void) throws {
        let folder = try BenchFolder()
        let source = folder.path.appending("source")
        try FileManager.default.createDirectory(atPath: source.string, withIntermediateDirectories: true)
        try Self.make(source.string)
        try body(source, folder.state)
    }

    private func expect(_ path: String, _ text: String, _ bench: DomainBench) async throws {
        let found = try await bench.read(path)
        #expect(found == text)
    }

    private func status(_ path: FilePath) throws -> stat {
        var status = stat()
        guard lstat(path.string, &status) == 0 else { throw Errno(rawValue: errno) }
        return status
    }

    @Test func statement1_anImportMakesADomain() async throws {
        try withSource { source, folders in
            #expect(throws: Errno.noSuchFileOrDirectory) { try status(folders.tree) }
            try folders.importDomain(from: DirectoryToImport(source))
            let made = try status(folders.tree)
            #expect(made.st_mode & S_IFMT == S_IFDIR)
        }
    }

    @Test func statement4_aPlainDirectoryIsEnough() async throws {
        // A plain directory: no attributes, no identifiers.
        try await DomainBench.run(importing: Self.make) { bench in
            try await bench.settle()
            #expect(bench.store.entries.keys.sorted() == ["a", "d", "d/b", "d/e", "d/e/c"])
            #expect(bench.store.text(at: "d/e/c") == "gamma")
        }
    }

    @Test func statement7_writesThroughOldDescriptorsAreSeen() async throws {
        let descriptor = Locked<Int32>(-1)
        func make(_ path: String) throws {
            try Self.make(path)
            descriptor.withLock { $0 = open(path + "/a", O_WRONLY | O_APPEND | O_CLOEXEC) }
        }
        try await DomainBench.run(importing: make) { bench in
            let file = descriptor.withLock { $0 }
            defer { close(file) }
            try await bench.settle()
            #expect(bench.store.text(at: "a") == "alpha")
            #expect(write(file, " and more", 9) == 9)
            // Detected at the next access to the file.
            try await bench.withItem("a") { number in _ = try bench.replica.attributes(of: number) }
            try await bench.settle()
            #expect(bench.store.text(at: "a") == "alpha and more")
        }
    }

    @Test func statement11_anImmovableDirectoryIsRefusedAndUntouched() throws {
        try withSource { source, folders in
            // A mountpoint, or the root in its place, which can't be renamed.
            #expect(throws: Errno.resourceBusy) { try folders.importDomain(from: DirectoryToImport(FilePath("/proc"))) }
            let elsewhere = StateFolders(root: FilePath("/dev/shm/replica-import-\(getpid())"))
            defer { try? FileManager.default.removeItem(atPath: elsewhere.root.string) }  // It is in memory only.
            let (here, there) = (try status(source), try status(FilePath("/dev/shm")))
            if here.st_dev != there.st_dev {
                #expect(throws: Errno.improperLink) { try elsewhere.importDomain(from: DirectoryToImport(source)) }
            }
            let after = try status(source)
            #expect(after.st_ino == here.st_ino && after.st_ctim.tv_nsec == here.st_ctim.tv_nsec)
        }
    }

    @Test func statement11_aStoreThatTakesNoImportIsRefused() throws {
        try withSource { source, _ in
            var properties = StoreProperties()
            #expect(throws: Never.self) { try DirectoryToImport(source).check(properties) }
            let before = try status(source)
            properties.allowsImport = false
            #expect(throws: Errno.notSupported) { try DirectoryToImport(source).check(properties) }
            let after = try status(source)
            #expect(after.st_ino == before.st_ino && after.st_ctim.tv_nsec == before.st_ctim.tv_nsec)
        }
    }

    @Test func statement3_nothingIsFetchedAgain() async throws {
        try await DomainBench.run(importing: Self.make) { bench in
            try await bench.settle()
            for (path, text) in Self.files { try await expect(path, text, bench) }
            #expect(bench.store.calls(of: .fetchContents).isEmpty)
        }
    }

    @Test func statement5_theDirectoryIsGoneFromItsPlace() throws {
        try withSource { source, folders in
            try folders.importDomain(from: DirectoryToImport(source))
            #expect(throws: Errno.noSuchFileOrDirectory) { try status(source) }
        }
    }

    @Test func statement6_theFilesAreMovedNotCopied() throws {
        try withSource { source, folders in
            let before = try status(source.appending("d").appending("b"))
            try folders.importDomain(from: DirectoryToImport(source))
            let after = try status(folders.tree.appending("d").appending("b"))
            #expect(after.st_ino == before.st_ino)
            #expect(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec)
        }
    }

    @Test func statement8_aSecondImportOfTheNameIsRefused() throws {
        try withSource { source, folders in
            try folders.makeDomain()
            #expect(throws: Errno.fileExists) { try folders.importDomain(from: DirectoryToImport(source)) }
        }
    }

    @Test func statement9_aRefusedDirectoryIsUntouched() throws {
        try withSource { source, folders in
            try folders.makeDomain()
            let before = try status(source)
            #expect(throws: Errno.fileExists) { try folders.importDomain(from: DirectoryToImport(source)) }
            let after = try status(source)
            #expect(after.st_ino == before.st_ino)
            #expect(after.st_ctim.tv_nsec == before.st_ctim.tv_nsec)
            #expect(try String(contentsOfFile: source.appending("a").string, encoding: .utf8) == "alpha")
        }
    }

    @Test func statement10_theDomainThatIsThereIsUnharmed() throws {
        try withSource { source, folders in
            try folders.makeDomain()
            try "mine".write(toFile: folders.tree.appending("own").string, atomically: false, encoding: .utf8)
            #expect(throws: Errno.fileExists) { try folders.importDomain(from: DirectoryToImport(source)) }
            let names = try FileManager.default.contentsOfDirectory(atPath: folders.tree.string)
            #expect(names == ["own"])
        }
    }

    @Test func statement12_theMoveIsDoneWhenImportReturns() throws {
        try withSource { source, folders in
            try folders.importDomain(from: DirectoryToImport(source))
            #expect(try String(contentsOfFile: folders.tree.appending("a").string, encoding: .utf8) == "alpha")
        }
    }

    @Test func statement13_theImportDoesNotWaitForTheStore() async throws {
        let store = MemoryStore()
        let gate = HeldCalls()
        store.setHooks(before: { call throws(RemoteStoreError) in
            if call.method == .createItem { try await gate.pass() }
        })
        try await DomainBench.run(store: store, importing: Self.make) { bench in
            // Everything can be read although no create was answered.
            for (path, text) in Self.files { try await expect(path, text, bench) }
            #expect(store.entries.isEmpty)
            gate.open()
            try await bench.settle()
            #expect(store.entries.count == 5)
        }
    }

    @Test func statement14_everyItemIsCreatedOnceParentsFirst() async throws {
        try await DomainBench.run(importing: Self.make) { bench in
            try await bench.settle()
            let templates = bench.store.calls(of: .createItem).compactMap(\.template)
            #expect(templates.map(\.filename.description).sorted() == ["a", "b", "c", "d", "e"])
            var known: Set<ItemIdentifier> = [.root]
            for template in templates {
                #expect(known.contains(template.parent))
                if let made = bench.store.entries.values.first(where: { $0.item.filename == template.filename }) {
                    known.insert(made.item.identifier)
                }
            }
        }
    }

    @Test func statement15_importedItemsMayExistAlready() async throws {
        try await DomainBench.run(importing: Self.make) { bench in
            try await bench.settle()
            let calls = bench.store.calls(of: .createItem)
            #expect(calls.count == 5)
            #expect(calls.allSatisfy { $0.options == CreateOptions.mayAlreadyExist.rawValue })
            // Statement 68: items created later do not.
            try await bench.write("new", to: "new")
            try await bench.settle()
            #expect(bench.store.calls(of: .createItem).last?.options == 0)
        }
    }

    @Test func statement16_importDidFinishComesOnceAtTheEnd() async throws {
        try await DomainBench.run(importing: Self.make) { bench in
            try await bench.until("the end") { !bench.store.calls(of: .importDidFinish).isEmpty }
            try await bench.settle()
            #expect(bench.store.calls(of: .importDidFinish).count == 1)
            let methods = bench.store.calls.map(\.method)
            #expect(methods.lastIndex(of: .createItem)! < methods.firstIndex(of: .importDidFinish)!)
        }
    }

    @Test func statement19_onlyADirectoryIsImported() throws {
        try withSource { source, folders in
            #expect(throws: Errno.notDirectory) {
                try folders.importDomain(from: DirectoryToImport(source.appending("a")))
            }
            #expect(throws: Errno.noSuchFileOrDirectory) {
                try folders.importDomain(from: DirectoryToImport(source.appending("no")))
            }
            #expect(throws: Errno.noSuchFileOrDirectory) { try status(folders.tree) }
        }
    }

    @Test func statement21_stagingLiesOnTheTreesFilesystem() throws {
        try withSource { source, folders in
            try folders.importDomain(from: DirectoryToImport(source))
            let (staging, tree) = (try status(folders.staging), try status(folders.tree))
            #expect(staging.st_dev == tree.st_dev)
        }
    }

    /// Newer content of a local file is complete before it replaces the old content.
    @Test func statement21_fetchedContentWaitsInTheTemporaryDirectory() async throws {
        let bench = try Bench()
        bench.store.write("old", to: "x")
        try await bench.settle()
        #expect(try await bench.read("x") == "old")
        let (staging, tree) = (bench.folders.staging, bench.folders.tree)
        let seen = Locked<[ino_t]>([])
        let shown = Locked("")
        bench.store.setHooks(after: { call throws(RemoteStoreError) in
            guard call.method == .fetchContents else { return }
            // An unreadable entry is missing below.
            for name in (try? FileManager.default.contentsOfDirectory(atPath: staging.string)) ?? [] {
                let path = staging.appending(name).string
                var status = stat()
                guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
                seen.withLock { $0.append(status.st_ino) }
            }
            let old = FileManager.default.contents(atPath: tree.appending("x").string)
            shown.withLock { $0 = String(decoding: old ?? Data(), as: UTF8.self) }
        })
        bench.store.write("newer", to: "x")
        try await bench.receive()
        #expect(shown.withLock { $0 } == "old")
        let (waited, file) = (seen.withLock { $0 }, try bench.status("x").st_ino)
        #expect(waited == [file])
        #expect(try bench.tree() == ["x": "newer"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: staging.string) == [])
    }
}
