import Foundation
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage

/// A storage in memory and a folder for the table of a store over it, which is removed with it.
final class PathScratch: Sendable {
    let storage: MemoryPathStorage
    private let temporary: TemporaryFolder
    var folder: String { temporary.path.string }

    init(_ properties: PathStorageProperties = PathStorageProperties()) throws {
        storage = MemoryPathStorage(properties)
        temporary = try TemporaryFolder(in: "/dev/shm")
    }

    func open(_ change: (inout PathStoreOptions) -> Void = { _ in }) throws -> PathStore {
        var options = PathStoreOptions.alwaysListing
        change(&options)
        return try PathStore(storage, folder: folder, options: options)
    }

    func subject() async throws -> StoreSubject {
        try await StoreSubject(other: MemoryPathClient(storage)) { try self.open() }
    }

    /// Another folder for the table of another store.
    func secondFolder() throws -> String {
        let second = folder + "/second"
        try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: false)
        return second
    }

    func loseTable() throws {
        for part in ["", "-wal", "-shm"] {
            let path = "\(folder)/store.db\(part)"
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        }
    }
}

/// Kinds of storages.
struct StorageLikeness: Sendable, CustomStringConvertible {
    var description: String
    var properties: PathStorageProperties
    var dateGrain: Int64 = 1
    var tellsSettled = false

    private init(_ description: String, _ change: (inout PathStorageProperties) -> Void) {
        self.description = description
        properties = PathStorageProperties()
        change(&properties)
    }

    private static func strong(_ strength: PathStorageProperties.Strength) -> StorageLikeness {
        StorageLikeness("\(strength)") { properties in
            properties.createStrength = strength
            properties.replaceStrength = strength
            properties.removeStrength = strength
            properties.moveStrength = strength
        }
    }

    /// Like S3 or WebDAV with all features.
    static let atomic = strong(.atomic)
    /// Two writes within five milliseconds have the same version, dates are truncated to seconds, without marks: like
    /// SFTP.
    static let coarse: StorageLikeness = {
        var likeness = strong(.checked)
        likeness.description = "coarse"
        likeness.properties.changeGrain = 5_000_000
        likeness.properties.keepsMarks = false
        likeness.dateGrain = 1_000_000_000
        return likeness
    }()
    static let settling: StorageLikeness = {
        var likeness = coarse
        likeness.description = "coarse, and says what is settled"
        likeness.tellsSettled = true
        return likeness
    }()
    static let lasting = StorageLikeness("with identities") { $0.hasIdentities = true }
    static let deep = StorageLikeness("with deep listings and identities") {
        ($0.listsDeep, $0.hasIdentities) = (true, true)
    }
    /// Like Nextcloud.
    static let telling = StorageLikeness("with folders that tell changes and identities") {
        ($0.foldersTellChanges, $0.hasIdentities) = (true, true)
    }
    static let silent = StorageLikeness("with listings that tell no attributes") {
        $0.listsAttributes = false
        $0.listsDeep = true
    }
    static let poor = StorageLikeness("that keeps nothing") {
        ($0.keepsModes, $0.keepsModificationDates, $0.keepsMarks, $0.keepsSymlinks) = (false, false, false, false)
        ($0.fetchesRanges, $0.isCaseSensitive, $0.longestName) = (false, false, 200)
    }
    static let all = [atomic, strong(.checked), strong(.none), coarse, settling, lasting, deep, telling, silent, poor]

    func scratch() throws -> PathScratch {
        let scratch = try PathScratch(properties)
        scratch.storage.dateGrain = dateGrain
        scratch.storage.tellsSettled = tellsSettled
        return scratch
    }
}
