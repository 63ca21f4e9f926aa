import Foundation
import Glibc
import ReplicaTestSupport
import Testing

/// Mounted domains on real servers that die, lose their names, have no space, and revoke a login and give it again: nothing is lost or
/// doubled, reads end in bounded time with an errno that says why, and all goes on by itself.
@Suite struct ServerTroubleTests {
    static let words = """
        # Ends a server at once, and remembers how it was started.
        kill_server() {
            mapfile -d '' -t server_words <"/proc/$1/cmdline"
            mapfile -d '' -t server_variables <"/proc/$1/environ"
            server_name=$(cat "/proc/$1/comm")
            kill -9 "$1"
            gone "$1"
        }
        # Until it has its name, by which it is found.
        start_server_again() {
            env -i "${server_variables[@]}" "${server_words[@]}" >>again 2>&1 &
            local server=$!
            has_its_name() { [ "$(cat "/proc/$server/comm")" = "$server_name" ]; }
            eventually has_its_name
        }
        # fails_with TEXT FILE: a cold read of it ends in time, with this error.
        fails_with() {
            local got=0
            timeout 60 cat "$2" >read 2>said || got=$?
            [ "$got" -eq 1 ] || fail "ended with $got: $2" || return 1
            has said "$1" || fail "$(cat said)"
        }
        fails_in_time() { in_time fails_with "$@" 2>/dev/null; }

        """

    /// What is written while there is trouble, and what `theirs NAME` has of it afterwards, once.
    static let work = """
        write_something() {
            echo "written in $1" >"$MNT/written in $1"
            echo "more in $1" >>"$MNT/file"
            mkdir "$MNT/folder in $1"
            mv "$MNT/moving" "$MNT/folder in $1/moving"
            mv "$MNT/folder in $1/moving" "$MNT/moving"
        }
        it_is_there() {
            within 300 settle
            theirs copy
            diff -r "$MNT" copy
            content_is "copy/written in $1" "written in $1"
            equal "$(grep -c "more in $1" copy/file)" 1
            rm -r copy
        }

        """

    private static func webDAV(_ script: String, disk: Bool = false) async throws {
        let mount = disk ? "mkdir -p server/data; mount -t tmpfs -o size=3m none server/data" : ""
        let words =
            PrivateNamespace.words(
                hidesHome: false, preparation: PrivateNamespace.installing("replica-store-webdav")) + Self.words
            + Self.work
                + """
                make_server() {
                    \(mount)
                    mkfifo input
                    "\(WebDAVFolderTests.server)" lighttpd "$HERE/server" <input >output &
                    exec {held}>input
                    in_time grep -q READY output
                    place=$(sed -n 's/^DAV_SERVER=//p' output)
                    printf 'user=user\\npassword=pass\\n' >login
                    chmod 600 login
                    printf '127.0.0.1 dav.test localhost\\n' >hosts
                    mount --bind hosts /etc/hosts
                    url="dav://dav.test:${place##*:}/?clear=yes"
                    for number in 1 2 3 4 5 6 7 8; do echo "cold $number" >"server/data/cold $number"; done
                    echo text >server/data/file
                    echo moving >server/data/moving
                    replica add d --store "$url" --credentials login >/dev/null
                    mount_it
                    cat "$MNT/file" "$MNT/moving" >/dev/null
                }
                theirs() { cp -r server/data "$1"; }

                """
        try await Trial.run { trial in
            try await trial.shell(words + "in_namespace <<'END'\nmake_server\n\(script)\nEND")
        }
    }

    @Test func aRestartedServerIsReconnected() async throws {
        try await Self.webDAV(
            """
            kill_server "$(pgrep -x lighttpd)"
            write_something death
            fails_in_time 'No route to host' "$MNT/cold 1"
            in_time says 'Failed to connect to dav.test'
            # It is back, and nobody knows where.
            printf '127.0.0.1 localhost\\n' >hosts
            # The store's program remembers an address for a while.
            kill -9 "$(pgrep -P "$(daemon)")"
            start_server_again
            fails_in_time 'No route to host' "$MNT/cold 2"
            in_time says 'resolve'
            write_something oblivion
            printf '127.0.0.1 dav.test localhost\\n' >hosts
            in_time content_is "$MNT/cold 3" 'cold 3'
            it_is_there death
            it_is_there oblivion
            # While it works, again and again.
            for round in 1 2 3 4; do
                write_something "round $round"
                for number in $(seq 10); do echo "$round $number" >"$MNT/many $number"; done
                sleep 0.2
                kill_server "$(pgrep -x lighttpd)"
                start_server_again
            done
            for round in 1 2 3 4; do it_is_there "round $round"; done
            for number in $(seq 10); do content_is "server/data/many $number" "4 $number"; done
            """)
    }

    @Test func aRevokedWebDAVLoginIsReportedAndRenewed() async throws {
        try await Self.webDAV(
            """
            echo user:other >server/users
            write_something exile
            fails_in_time 'Permission denied' "$MNT/cold 1"
            in_time says 'login'
            content_is "$MNT/file" "$(printf 'text\\nmore in exile')"
            echo user:pass >server/users
            in_time content_is "$MNT/cold 2" 'cold 2'
            it_is_there exile
            """)
    }

    /// The new password is in the file of `--credentials`, which is read again when the server rejects the former one.
    @Test func aChangedPasswordIsTakenWithoutARemount() async throws {
        try await Self.webDAV(
            """
            echo user:other >server/users
            write_something rotation
            fails_in_time 'Permission denied' "$MNT/cold 1"
            in_time says 'login'
            before=$(daemon)
            printf 'user=user\\npassword=other\\n' >login
            in_time content_is "$MNT/cold 2" 'cold 2'
            it_is_there rotation
            equal "$(daemon)" "$before"
            """)
    }

    @Test func aFullDiskOfAWebDAVServerLosesNothing() async throws {
        try await Self.webDAV(
            """
            head -c 4000000 /dev/urandom >"$MNT/large"
            in_time says "large: the server can't store it (500): its disk may be full"
            content_is "$MNT/cold 1" 'cold 1'
            write_something scarcity
            mount -o remount,size=30m "$HERE/server/data"
            it_is_there scarcity
            cmp "$MNT/large" server/data/large
            """, disk: true)
    }

    private static func sftp(_ script: String) async throws {
        let words =
            ServerStoreTests.words + Self.words + Self.work + """
                begin_server() {
                    mount -t tmpfs -o size=3m none storage
                    make_server
                    # By a name of its own, which can be lost.
                    printf '127.0.0.1 sftp.test localhost\\n' >hosts
                    mount --bind hosts /etc/hosts
                    sed -i 's/HostName .*/HostName sftp.test/' "$home/.ssh/config"
                    printf '[sftp.test]:%s %s\\n' "$port" "$(cat ssh/host.pub)" >>"$home/.ssh/known_hosts"
                    for number in 1 2 3; do echo "cold $number" >"storage/cold $number"; done
                    echo text >storage/file
                    echo moving >storage/moving
                    replica add d --store "sftp://server$HERE/storage" >/dev/null
                    mount_it
                    cat "$MNT/file" "$MNT/moving" >/dev/null
                }
                theirs() { cp -r storage "$1"; }

                """
        try await Trial.run { trial in
            try await trial.shell(words + "in_namespace <<'END'\nbegin_server\n\(script)\nEND")
        }
    }

    @Test func aRevokedSSHKeyIsReportedAndRenewed() async throws {
        try await Self.sftp(
            """
            mv ssh/authorized ssh/revoked
            stop_server
            /usr/sbin/sshd -D -f "$HERE/ssh/sshd_config" -E "$HERE/ssh/log" &
            write_something exile
            fails_in_time 'Permission denied' "$MNT/cold 1"
            in_time says 'requires a password'
            mv ssh/revoked ssh/authorized
            in_time content_is "$MNT/cold 2" 'cold 2'
            it_is_there exile
            """)
    }

    @Test func aLostHostNameAndHostKeyAreReported() async throws {
        try await Self.sftp(
            """
            # Its connections end, and nobody knows where it is.
            printf '127.0.0.1 localhost\\n' >hosts
            stop_server
            write_something oblivion
            fails_in_time 'No route to host' "$MNT/cold 1"
            in_time says 'resolve hostname sftp.test'
            printf '127.0.0.1 sftp.test localhost\\n' >hosts
            start_server
            in_time content_is "$MNT/cold 1" 'cold 1'
            it_is_there oblivion
            # What was compared is here.
            replica evict "d:cold 2" >/dev/null
            # In its place is another one, which is told nothing.
            ssh-keygen -q -t ed25519 -N '' -f ssh/other
            sed 's/ssh.host$/ssh\\/other/' ssh/sshd_config >ssh/other_config
            stop_server
            /usr/sbin/sshd -D -f "$HERE/ssh/other_config" -E "$HERE/ssh/log" &
            write_something disguise
            fails_in_time 'No route to host' "$MNT/cold 2"
            in_time says 'the host key of server has changed'
            test ! -e 'storage/written in disguise'
            stop_server
            start_server
            in_time content_is "$MNT/cold 2" 'cold 2'
            it_is_there disguise
            """)
    }

    /// Also both ways at once, and a small file does not wait for a large one.
    @Test func aSlowConnectionIsUsable() async throws {
        try await Trial.run { trial in
            let (port, slow) = (trial.folder + "/upstream", trial.folder + "/slow")
            let proxy = try CuttingProxy(
                to: { (try? String(contentsOfFile: port, encoding: .utf8)).flatMap { UInt16($0.filter(\.isNumber)) } },
                limit: { _ in nil }, pace: { access(slow, F_OK) == 0 ? 400_000 : nil })
            defer { proxy.close() }
            let script = """
                echo "$port" >upstream
                sed -i "s/^Port .*/Port \(proxy.port)/" "$home/.ssh/config"
                printf '[127.0.0.1]:%s %s\\n' \(proxy.port) "$(cat ssh/host.pub)" >>"$home/.ssh/known_hosts"
                # The line is slow as long as this is there: the large one would take minutes.
                touch slow
                head -c 60000000 /dev/urandom >storage/large
                echo small >storage/small
                replica add d --store "sftp://server$HERE/storage" >/dev/null
                mount_it
                in_time test -e "$MNT/small"
                head -c 1000000 /dev/urandom >"$MNT/sent"
                { head -c 65536 >begin; touch begun; cat >rest; } <"$MNT/large" & reader=$!
                eventually test -e begun
                content_is "$MNT/small" small
                kill -0 "$reader"
                rm slow
                wait "$reader"
                cat begin rest | cmp - storage/large
                settle
                diff -r "$MNT" storage
                """
            try await trial.shell(
                ServerStoreTests.words + "in_namespace <<'END'\nmake_server\n\(script)\nEND")
        }
    }

    @Test func aFullDiskOfAnSFTPServerLosesNothing() async throws {
        try await Self.sftp(
            """
            head -c 4000000 /dev/urandom >"$MNT/large"
            in_time says 'the store is full'
            content_is "$MNT/cold 1" 'cold 1'
            write_something scarcity
            # Also when others fit.
            in_time test -e 'storage/written in scarcity'
            in_time says 'the store is full'
            mount -o remount,size=30m "$HERE/storage"
            it_is_there scarcity
            cmp "$MNT/large" storage/large
            prints "" find storage -name '.replica-tmp-*'
            """)
    }
}
