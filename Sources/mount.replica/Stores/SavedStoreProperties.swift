import Foundation
import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// The store's properties when it was last reached: `STATE/store.json`. They are assumed until the store is reached
/// again; if the file is missing or invalid, the store is assumed to keep everything.
enum SavedStoreProperties {
    private static let name: FilePath.Component = "store.json"

    /// The recorded properties; nil if they cannot be used.
    static func read(state: FilePath) -> StoreProperties? {
        do {
            guard let bytes = try FileBytes.readIfPresent(state.appending(name)) else { return nil }
            let found = try JSONDecoder().decode(StoreProperties.self, from: Data(bytes))
            return found.canBe ? found : nil
        } catch {
            return nil  // The store reports them again when it is reached.
        }
    }

    /// Writes them to the domain's state atomically: after a power cut the file has either the old or the new properties.
    /// - Throws: An `Errno`, or the encoder's error.
    static func write(_ properties: StoreProperties, state: FilePath) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let bytes = Array(try encoder.encode(properties)) + [UInt8(ascii: "\n")]
        let fresh = state.appending("store.json.new")
        let file = try FileDescriptor.open(
            fresh, .writeOnly, options: [.create, .truncate, .closeOnExec, .noFollow], permissions: .ownerReadWrite)
        try file.closeAfter {
            _ = try file.writeAll(bytes)
            guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
        guard rename(fresh.string, state.appending(name).string) == 0 else { throw Errno(rawValue: errno) }
    }
}

extension StoreProperties {
    /// Whether a store can have these properties.
    fileprivate var canBe: Bool { (1...255).contains(longestName) && (1...128).contains(concurrency) }
}
