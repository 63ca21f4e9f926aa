import Foundation
import Glibc
import ReplicaTestSupport
import Synchronization
import Testing

/// The environment of one test: a folder with a source, a store, a mountpoint and a place for domains' states, and a
/// shell with variables for them. Everything started or mounted in it is ended with the test, also after a failure.
struct Trial: Sendable {
    let folder: String
    var source: String { folder + "/src" }
    var store: String { folder + "/store" }
    var mount: String { folder + "/mnt" }
    /// The state of the domain `d`.
    var state: String { folder + "/data/replica/d" }

    private static let count = Counter()
    private let left = LeftProcesses()

    private init() async throws {
        folder = "/var/tmp/replica-test-\(getpid())-\(Self.count.next())"
        for path in [folder, source, store, mount, folder + "/data"] {
            guard mkdir(path, 0o755) == 0, chmod(path, 0o755) == 0 else { throw POSIXError(.EIO) }
        }
    }

    /// Runs a test; few run at a time, so that none waits long for its turn on a small machine.
    static func run(_ body: (Trial) async throws -> Void) async throws {
        await Turnstile.shared.enter()
        do {
            let trial = try await Trial()
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await body(trial))
            } catch {
                outcome = .failure(error)
                await trial.keep()
            }
            try await trial.end()
            // Remains of a failed test are not reported as another failure.
            let deaf = try await trial.left.end(timeLimit: (try? outcome.get()) == nil ? .zero : eventLimit)
            try outcome.get()
            if !deaf.isEmpty { Issue.record("left running: \(deaf.map(\.name))") }
        } catch {
            await Turnstile.shared.leave()
            throw error
        }
        await Turnstile.shared.leave()
    }

    /// Runs a shell script in the folder, with the functions of ``shellWords``; fails the test if it fails.
    @discardableResult
    func shell(_ script: String, location: SourceLocation = #_sourceLocation) async throws -> String {
        let result = try await attempt(script)
        if result.code != 0 {
            Issue.record("exit \(result.code)\n\(result.output.suffix(6000))", sourceLocation: location)
            throw ScriptFailed()
        }
        return result.output
    }

    /// Runs a shell script and returns its result, with output and errors in one text.
    func attempt(_ script: String) async throws -> (code: Int32, output: String) {
        let file = folder + "/output"
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let outcome = try await runScript(shellWords + script, environment: environment, output: file)
        left.add(outcome.left)
        return (outcome.code, String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self))
    }

    private var variables: [String: String] {
        [
            "XDG_DATA_HOME": folder + "/data", "HOME": folder, "BIN": Self.programs, "SRC": source, "STORE": store,
            "MNT": mount, "STATE": state, "TREE": state + "/tree", "HERE": folder, "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": "/dev/null",
        ]
    }

    /// The folder of the built programs and the test bundle.
    static let programs = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path

    /// Copies the folder of a failed test to the folder in `REPLICA_TEST_KEEP`, if set.
    private func keep() async {
        guard let place = ProcessInfo.processInfo.environment["REPLICA_TEST_KEEP"] else { return }
        let kept = """
            set +e
            mkdir -p "\(place)/${HERE##*/}"
            grep -h inotify /proc/$(daemon)/fdinfo/* >"\(place)/${HERE##*/}/inotify"
            find "$MNT" -ls >"\(place)/${HERE##*/}/mount"
            cp -a --one-file-system data store "\(place)/${HERE##*/}/"
            for disk in *.cut; do [ ! -e "$disk" ] || cp --sparse=always "$disk" "\(place)/${HERE##*/}/"; done
            echo "kept in \(place)/${HERE##*/}"
            """
        print((try? await attempt(kept).output) ?? "nothing could be kept")
    }

    /// Ends the daemons started here, unmounts everything mounted here, and removes the folder.
    private func end() async throws {
        let leftovers = """
            set +e
            trap - ERR
            chattr -R -i "$HERE/store" "$HERE/data" 2>/dev/null
            for process in /proc/[0-9]*; do
                # Of a process that is just being started from a dead mount only the name can be asked for.
                case $(cat "$process/comm") in mount.replica) ;; *) continue ;; esac
                case $(readlink "$process/exe") in "$BIN/mount.replica") ;; *) continue ;; esac
                tr '\\0' '\\n' <"$process/cmdline" 2>/dev/null | grep -qF "$HERE/" ||
                    tr '\\0' '\\n' <"$process/environ" 2>/dev/null | grep -qF "=$HERE/" || continue
                kill -9 "${process#/proc/}"
                gone "${process#/proc/}"
            done
            awk -v at="$HERE/" 'index($2, at) == 1 { print $2 }' /proc/self/mounts | sort -r |
                while read -r place; do umount -l "$(printf '%b' "$place")"; done
            find "$HERE" -mindepth 1 -maxdepth 1 -not -name output -exec rm -rf --one-file-system {} +
            """
        let result = try await attempt(leftovers)
        guard result.code == 0 else { throw ScriptFailed() }
        _ = unlink(folder + "/output")
        if rmdir(folder) != 0 { Issue.record("\(folder) is not empty: \(result.output)") }
    }
}

/// The processes that a trial's scripts left running.
final class LeftProcesses: Sendable {
    private let processes = Mutex<[RunningProcess]>([])

    func add(_ more: [RunningProcess]) {
        if !more.isEmpty { processes.withLock { $0 += more } }
    }

    /// Ends them all.
    /// - Parameter timeLimit: How long they may take to end by themselves.
    /// - Returns: The processes that had to be killed.
    func end(timeLimit: Duration) async throws -> [RunningProcess] {
        let end = ContinuousClock.now + timeLimit
        var killed: [RunningProcess] = []
        for process in processes.withLock({ $0 }) where process.isRunning {
            if try await process.ends(by: end) { continue }
            killed.append(process)
            try await process.end()
        }
        return killed
    }
}

/// A script failed; its output is recorded already.
struct ScriptFailed: Error {}

/// Consecutive numbers, starting at 1.
final class Counter: Sendable {
    private let value = Atomic(0)

    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}

/// Limits the number of concurrent callers.
actor Turnstile {
    static let shared = Turnstile(places: 3)
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(places: Int) { free = places }

    func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        free += 1
    }
}
