import Foundation
import Glibc
import PathStore
import ReplicaControl
import ReplicaModel
import SystemPackage

/// `replica probe URL`: tests what a store can do and keep, in a folder that is removed afterwards.
enum StoreProbe {
    /// Probes the store and ends the process: with 0 if it does everything that it declares.
    static func main(_ url: StoreURL, isJSON: Bool, _ options: MountOptions) -> Never {
        let credentials = options.domain.credentials
        StoreTask.main {
            let findings = try await run(url, credentials: credentials)
            for finding in findings {
                if isJSON {
                    StandardOutput.write(try ControlCodec.encode(finding))
                } else {
                    StoreTask.say(line(finding))
                }
            }
            return findings.allSatisfy { $0.verdict != .broken }
        }
    }

    /// For a table.
    static func line(_ finding: ProbeFinding) -> String {
        let word = finding.verdict == .broken ? "BROKEN" : finding.verdict.rawValue
        return finding.topic.padding(toLength: 16, withPad: " ", startingAt: 0)
            + word.padding(toLength: 8, withPad: " ", startingAt: 0) + finding.finding
    }

    /// - Throws: Why it can't be probed.
    static func run(_ url: StoreURL, credentials: FilePath?) async throws -> [ProbeFinding] {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let first = try await ProbedStore.open(
            url, credentials: credentials, folder: folder.path.appending("one"))
        let second: ProbedStore
        do {
            second = try await ProbedStore.open(
                url, credentials: credentials, folder: folder.path.appending("two"))
        } catch {
            await first.close()
            throw error
        }
        let outcome: Result<[ProbeFinding], any Error>
        do { outcome = .success(try await run(first, second)) } catch { outcome = .failure(error) }
        await first.close()
        await second.close()
        return try outcome.get()
    }

    /// Probes a store with two clients.
    static func run(_ first: ProbedStore, _ second: ProbedStore) async throws -> [ProbeFinding] {
        let top = StoragePath([FileName("replica-probe-\(UInt64.random(in: 0 ... .max))")])
        let outcome: Result<[ProbeFinding], any Error>
        do {
            _ = try await first.storage.make(top, kind: .folder, attributes: PathAttributes())
            let clients = (
                ScopedStorage(storage: first.storage, folder: top),
                ScopedStorage(storage: second.storage, folder: top)
            )
            let kept = RoundTripTrial(first: clients.0, second: clients.1, store: first)
            let races = RaceTrial(first: clients.0, second: clients.1)
            outcome = .success(try await kept.run() + races.run() + ProbeText.declared(first))
        } catch {
            outcome = .failure(Self.said(error))
        }
        // Also after a failure, as far as possible: the probe's failure is the one to report.
        do { try await PathClient(storage: first.storage).delete(top) } catch {
            if case .success = outcome { throw Self.said(error) }
        }
        return try outcome.get()
    }

    private static func said(_ error: any Error) -> any Error {
        guard let error = error as? PathStorageError else { return error }
        return ControlFailure(.badStore, "the store can't be probed: \(ProbeText.words(error))")
    }
}
