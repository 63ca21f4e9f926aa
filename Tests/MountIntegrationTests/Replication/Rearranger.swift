import CLinux
import Foundation
import Glibc
import ReplicaTestSupport
import Synchronization

/// A program that creates files and folders in a tree, and renames and exchanges the entries. It removes nothing, so
/// each of its files exists exactly once.
final class Rearranger: Sendable {
    private struct State: Sendable {
        var random: SeededGenerator
        var made: [String] = []
    }

    private let name: String
    private let root: String
    private let state: Mutex<State>
    /// Microseconds between two calls: three programs make more than a hundred changes a second.
    private static let pause: UInt32 = 6_000

    init(_ name: String, in root: String, seed: UInt64) {
        (self.name, self.root) = (name, root)
        state = Mutex(State(random: SeededGenerator(seed)))
    }

    /// The contents of all files that it created.
    var made: [String] { state.withLock { $0.made } }

    func work(isStopped: borrowing Atomic<Bool>) {
        while !isStopped.load(ordering: .relaxed) {
            state.withLock { step(&$0) }
            usleep(Self.pause)
        }
    }

    private func step(_ state: inout State) {
        let place = place(&state.random)
        switch state.random.below(10) {
        case 0..<2: _ = mkdir(place, 0o755)
        case 2..<5: make(place, &state)
        case 5..<8: _ = renameat2(AT_FDCWD, entry(&state.random), AT_FDCWD, place, UInt32(CL_RENAME_NOREPLACE))
        default:
            _ = renameat2(AT_FDCWD, entry(&state.random), AT_FDCWD, entry(&state.random), UInt32(CL_RENAME_EXCHANGE))
        }
    }

    private func make(_ place: String, _ state: inout State) {
        let content = "\(name)-\(state.made.count)"
        let file = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        // A file that could not be written does not count.
        if write(file, content, content.utf8.count) == content.utf8.count { state.made.append(content) }
        close(file)
    }

    /// A name in a folder of the tree, in use or not.
    private func place(_ random: inout SeededGenerator) -> String {
        "\(folder(&random))/\(random.pick(["a", "b", "c", "d", "e", "f", "g", "h"]))"
    }

    /// An entry that exists, or did a moment ago.
    private func entry(_ random: inout SeededGenerator) -> String {
        let folder = folder(&random)
        let names = names(in: folder)
        return names.isEmpty ? folder : "\(folder)/\(random.pick(names))"
    }

    /// A folder of the tree, at most four deep.
    private func folder(_ random: inout SeededGenerator) -> String {
        var folder = root
        for _ in 0..<4 where random.below(3) > 0 {
            let below = names(in: folder).map { "\(folder)/\($0)" }.filter(isFolder)
            guard !below.isEmpty else { break }
            folder = random.pick(below)
        }
        return folder
    }

    private func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { !$0.hasPrefix(".replica-") }.sorted()
    }

    private func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
