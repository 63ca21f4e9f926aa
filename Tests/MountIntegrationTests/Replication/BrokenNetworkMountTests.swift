import Foundation
import ReplicaTestSupport
import Synchronization
import Testing

/// Mounted domains whose network is broken while programs write and read: a proxy in the tests' process applies faults
/// to some of their requests as long as the file `trouble` exists in the trial's folder.
@Suite struct BrokenNetworkMountTests {
    private static let seed = UInt64(ProcessInfo.processInfo.environment["REPLICA_FAULT_SEED"] ?? "") ?? 1

    /// The port of the server, when the script has written it to a file.
    private static func upstream(_ trial: Trial) -> @Sendable () -> UInt16? {
        let file = trial.folder + "/upstream"
        return { (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { UInt16($0.filter(\.isNumber)) } }
    }

    /// A user's changes, and the check that each exists exactly once, here and in `theirs`, a copy of the server's
    /// files.
    private static let work = """
        make() {
            mkdir "$MNT/folder" "$MNT/folder/inner"
            for number in 1 2 3 4 5 6; do echo "text $number" >"$MNT/folder/file $number"; done
            head -c 300000 /dev/urandom >"$MNT/folder/inner/large"
            ln -s inner/large "$MNT/folder/link"
        }
        change() {
            echo more >>"$MNT/folder/file 1"
            echo other >"$MNT/folder/file 2"
            mv "$MNT/folder/file 3" "$MNT/renamed"
            rm "$MNT/folder/file 4"
            mv "$MNT/folder" "$MNT/moved"
        }
        expected() {
            printf '%s\\n' moved 'moved/file 1' 'moved/file 2' 'moved/file 5' 'moved/file 6' moved/inner \\
                moved/inner/large moved/link renamed
        }
        names() { (cd "$1" && find . -mindepth 1 -printf '%P\\n' | LC_ALL=C sort); }
        both_are_equal() {
            prints "$(expected)" names "$MNT"
            theirs copy
            diff -r --no-dereference "$MNT" copy
            content_is copy/renamed 'text 3'
            content_is 'copy/moved/file 1' "$(printf 'text 1\\nmore')"
        }
        # Reads end, with the content or an error; when all is well again, with the content.
        read_cold() {
            replica add other --store "$url" ${option:-} >/dev/null
            mkdir other
            replica mount other other >/dev/null
            in_time test -d other/moved/inner
            touch trouble
            for number in 1 2 5 6; do
                timeout 100 cat "other/moved/file $number" >read 2>said || has said 'No route to host' || has said 'Input/output' ||
                    fail "$(cat said)"
            done
            rm trouble
            in_time cmp other/moved/inner/large "$MNT/moved/inner/large"
            in_time diff -r --no-dereference ${exclude:-} other "$MNT"
            replica unmount other --flush
        }

        """

    private static let script = """
        # The first listing of a folder waits for the remote, and fails without it.
        in_time ls "$MNT" >listed
        touch trouble
        make
        # What is under way is faulted until the proxy has had enough.
        settle
        change
        settle
        test -s faults
        rm trouble
        both_are_equal
        read_cold
        umount "$MNT"
        end_daemon

        """

    /// The proxy's record of its faults.
    private static func note(_ trial: Trial, _ text: String) {
        let file = FileHandle(forWritingAtPath: trial.folder + "/faults")
        file?.seekToEndOfFile()
        file?.write(Data((text + "\\n").utf8))
    }

    /// One that faults a quarter of the requests while there is trouble, forty at most.
    private static func proxy(_ trial: Trial) throws -> HTTPFaultProxy {
        let isTrouble: @Sendable () -> Bool = { [path = trial.folder + "/trouble"] in access(path, F_OK) == 0 }
        // Silence would last as long as the real timeout.
        let kinds = HTTPFault.allCases.filter { !$0.takesLong && $0 != .longPause }
        let dice = Mutex((SeededGenerator(seed), left: 40))
        return try HTTPFaultProxy(to: upstream(trial)) { request in
            guard isTrouble() else { return nil }
            let fault: HTTPFault? = dice.withLock { dice in
                guard dice.left > 0, Int.random(in: 0..<4, using: &dice.0) == 0 else { return nil }
                dice.left -= 1
                return kinds.randomElement(using: &dice.0)
            }
            if let fault { note(trial, "\(fault.rawValue) \(request.words.prefix(2).joined(separator: " "))") }
            return fault
        }
    }

    @Test func aWebDAVDomainSurvivesEveryFaultOfItsRequests() async throws {
        try await Trial.run { trial in
            let proxy = try Self.proxy(trial)
            defer { proxy.close() }
            let words =
                PrivateNamespace.words(
                    hidesHome: false, preparation: PrivateNamespace.installing("replica-store-webdav")) + """
                    # It keeps no symlinks: they stay here.
                    theirs() { cp -r server/data "$1"; ln -s inner/large "$1/moved/link"; }

                    """
            let script = """
                : >faults
                mkfifo input
                "\(WebDAVFolderTests.server)" lighttpd "$HERE/server" <input >output &
                exec {held}>input
                in_time grep -q READY output
                sed -n 's/^DAV_SERVER=.*://p' output >upstream
                printf 'user=user\\npassword=pass\\n' >login
                chmod 600 login
                url="dav://127.0.0.1:\(proxy.port)/"
                option='--credentials login' exclude=--exclude=link
                replica add d --store "$url" $option >/dev/null
                mount_it
                \(Self.script)
                prints "" find server/data -name '.replica-tmp-*'
                """
            try await trial.shell(words + Self.work + "in_namespace <<'END'\n\(script)\nEND")
        }
    }

    @Test func anS3DomainSurvivesEveryFaultOfItsRequests() async throws {
        try await Trial.run { trial in
            let proxy = try Self.proxy(trial)
            defer { proxy.close() }
            let words = """
                # What replicas tell each other is there for some minutes (docs/stores/s3.md).
                theirs() {
                    rclone copy --exclude /.replica/changes r:bucket/some/folder "$1"
                    rmdir "$1/.replica" 2>/dev/null || true
                    restore "$1"
                }
                # rclone knows no symlinks of others, and no empty folders.
                restore() { rm "$1/moved/link"; ln -s inner/large "$1/moved/link"; }
                """
            let script = """
                : >faults
                make_bucket
                echo "${endpoint##*:}" >upstream
                url="s3://bucket/some/folder?endpoint=http://127.0.0.1:\(proxy.port)"
                content_of_link() { rclone cat r:bucket/some/folder/moved/link; }
                replica add d --store "$url" >/dev/null
                mount_it
                \(Self.script)
                prints inner/large content_of_link
                objects=$(rclone lsf -R --files-only r:bucket)
                prints "" printf %s "$(grep -F .replica/ <<<"$objects" || true)"
                """
            try await trial.shell(BucketStoreTests.words + Self.work + words + "\nin_namespace <<'END'\n\(script)\nEND")
        }
    }

    @Test func anSFTPDomainSurvivesEveryCutOfItsConnections() async throws {
        try await Trial.run { trial in
            let isTrouble: @Sendable () -> Bool = { [path = trial.folder + "/trouble"] in access(path, F_OK) == 0 }
            let dice = Mutex((SeededGenerator(Self.seed), left: 4))
            let proxy = try CuttingProxy(to: Self.upstream(trial)) { number in
                guard isTrouble() else { return nil }
                return dice.withLock { dice in
                    guard dice.left > 0 else { return nil }
                    dice.left -= 1
                    let limit = Int.random(in: 4_000..<20_000, using: &dice.0)
                    Self.note(trial, "connection \(number) ends after \(limit)")
                    return limit
                }
            }
            defer { proxy.close() }
            let script = """
                : >faults
                theirs() { cp -a storage "$1"; }
                echo "$port" >upstream
                sed -i "s/^Port .*/Port \(proxy.port)/" "$home/.ssh/config"
                printf '[127.0.0.1]:%s %s\\n' \(proxy.port) "$(cat ssh/host.pub)" >>"$home/.ssh/known_hosts"
                url="sftp://server$HERE/storage"
                # The first connection is cut, too: the one that all calls have.
                touch trouble
                in_time replica add d --store "$url" >/dev/null
                mount_it
                \(Self.script)
                prints "" find storage -name '.replica-tmp-*'
                """
            try await trial.shell(
                ServerStoreTests.words + Self.work + "in_namespace <<'END'\nmake_server\n\(script)\nEND")
        }
    }
}
