import Testing

/// Domains on a real OpenSSH server, which ssh reaches by a configuration in the user's home: a temporary home, in
/// private namespaces, so that the sshd ends with the test.
@Suite struct ServerStoreTests {
    /// Runs the script from standard input; `ssh server` connects to a server whose disk is `storage`.
    static let words =
        PrivateNamespace.words(
            hidesHome: true, preparation: "mkdir -p storage ssh; mkdir -p -m 700 \"$home/.ssh\" /run/sshd") + """
            port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
            make_server() {
                port=$(port)
                for key in host id; do ssh-keygen -q -t ed25519 -N '' -f "ssh/$key"; done
                cp ssh/id.pub ssh/authorized
                {
                    printf '%s\\n' "ListenAddress 127.0.0.1:$port" "HostKey $HERE/ssh/host" 'StrictModes no' 'UsePAM no' \\
                        "AuthorizedKeysFile $HERE/ssh/authorized" 'PasswordAuthentication no' 'PidFile none' \\
                        'KbdInteractiveAuthentication no' 'Subsystem sftp internal-sftp'
                } >ssh/sshd_config
                printf '[127.0.0.1]:%s %s\\n' "$port" "$(cat ssh/host.pub)" >"$home/.ssh/known_hosts"
                {
                    printf '%s\\n' 'Host server' 'HostName 127.0.0.1' "Port $port" "IdentityFile $HERE/ssh/id"
                } >"$home/.ssh/config"
                start_server
            }
            answers() { ssh -o BatchMode=yes server true 2>/dev/null; }
            start_server() { /usr/sbin/sshd -D -f "$HERE/ssh/sshd_config" -E "$HERE/ssh/log" & eventually answers; }
            # All of them are this test's: no others are seen here.
            stop_server() {
                for process in $(pgrep -x sshd); do kill -9 "$process" 2>/dev/null || true; done
                eventually not answers
            }

            """

    private static func run(_ script: String, location: SourceLocation = #_sourceLocation) async throws {
        try await Trial.run { trial in
            try await trial.shell(words + "in_namespace <<'END'\nmake_server\n\(script)\nEND", location: location)
        }
    }

    /// What ssh itself makes, and a command of its configuration, leaves its mode to the umask.
    @Test func filesCreatedBySSHAreWritableByTheirOwnerOnly() async throws {
        try await Self.run(
            """
            cp /usr/bin/ssh ssh/real
            printf '%s\\n' '#!/bin/sh' ": >$HERE/file-of-ssh" "exec $HERE/ssh/real \\"\\$@\\"" >ssh/wrapper
            chmod 755 ssh/wrapper
            mount --bind ssh/wrapper /usr/bin/ssh
            replica add d --store "sftp://server$HERE/storage" >/dev/null
            mount_it
            echo text >"$MNT/file"; settle
            equal "$(stat -c %a file-of-ssh)" 644
            """)
    }

    /// Also while the server is down, and afterwards.
    @Test func aDirectoryIsImportedAndSyncedBothWays() async throws {
        try await Self.run(
            """
            mkdir "$SRC/folder"
            echo old >"$SRC/folder/old"
            echo text >"$SRC/file"
            chmod 640 "$SRC/file"
            ln -s folder/old "$SRC/link"
            head -c 3000000 /dev/urandom >"$SRC/large"
            replica import d "$SRC" --store "sftp://server$HERE/storage" >/dev/null
            mount_it
            settle
            diff -r --no-dereference "$MNT" storage
            here=$(stat -c '%a %Y' "$MNT/file"); prints "$here" stat -c '%a %Y' storage/file
            echo more >>"$MNT/file"
            mv "$MNT/folder" "$MNT/moved"
            rm "$MNT/link"
            mkdir "$MNT/made"
            settle
            diff -r --no-dereference "$MNT" storage
            echo theirs >storage/moved/theirs
            rm storage/moved/old
            in_time content_is "$MNT/moved/theirs" theirs
            in_time not test -e "$MNT/moved/old"
            # What is here is here without the server, and what is written is sent when it is back.
            stop_server
            content_is "$MNT/moved/theirs" theirs
            echo offline >"$MNT/offline"
            in_time says 'Connection refused'
            start_server
            in_time content_is storage/offline offline
            settle
            diff -r --no-dereference "$MNT" storage
            equal "$(ls -A storage | tr '\\n' ' ')" 'file large made moved offline '
            # Nothing of ssh is left when the daemon has ended.
            pgrep -x ssh >/dev/null
            umount "$MNT"
            end_daemon
            eventually not pgrep -x ssh
            """)
    }

    /// It is removed again if the import is refused.
    @Test func aMissingDirectoryIsCreatedOnDemand() async throws {
        try await Self.run(
            """
            echo text >"$SRC/file"
            url="sftp://server$HERE/storage/new"
            replica import d "$SRC" --store "$url" 2>said && fail 'it was not there'
            has said '--create (-o create) creates it'
            # There the state can't be created, after the directory was.
            XDG_DATA_HOME=/proc replica import d "$SRC" --store "$url" --create 2>said && fail 'there can be no state'
            has said '/proc/replica can'"'"'t be created'
            not test -e storage/new
            content_is "$SRC/file" text
            replica import d "$SRC" --store "$url" --create >/dev/null
            equal "$(stat -c %a storage/new)" 700
            mount_it
            settle
            diff -r "$MNT" storage/new
            umount "$MNT"
            end_daemon
            """)
    }

    /// Fetched on demand, by a mount that creates the domain, while the server is killed repeatedly.
    @Test func transfersSurviveAKilledServer() async throws {
        try await Self.run(
            """
            mkdir -p d/folder
            for number in $(seq 6); do head -c 4000000 /dev/urandom >"d/folder/$number"; done
            mount_replica "sftp://server$HERE/d" "$MNT" >/dev/null
            for round in $(seq 6); do
                head -c 3000000 /dev/urandom >"$MNT/sent $round"
                cat "$MNT/folder/$round" >/dev/null 2>&1 & reader=$!
                sleep 0.$((round * 7 % 10))
                stop_server
                start_server
                wait "$reader" || true
            done
            for number in $(seq 6); do in_time cmp -s "$MNT/folder/$number" "d/folder/$number"; done
            in_time settle
            diff -r --no-dereference --exclude='.replica-tmp-*' "$MNT" d
            equal "$(ls d | wc -l)" 7
            # Nor is anything of ssh left by a daemon that is killed.
            pgrep -x ssh >/dev/null
            kill_daemon
            eventually not pgrep -x ssh
            umount -l "$MNT"
            """)
    }

    @Test func failuresAreReported() async throws {
        try await Self.run(
            """
            url="sftp://server$HERE/storage"
            refused 15 "there is no directory $HERE/none there" replica add x --store "sftp://server$HERE/none"
            refused 15 'the store URL contains a secret' replica add x --store "sftp://me:secret@server$HERE/storage"
            refused 15 "the URL's host may contain only letters" replica add x --store "sftp://-oProxyCommand=x$HERE/storage"
            echo >ssh/authorized
            refused 15 'ssh-copy-id' replica add x --store "$url"
            cp ssh/id.pub ssh/authorized
            mv "$home/.ssh/known_hosts" known_hosts
            refused 15 'is not known here: run `ssh server` once' replica add x --store "$url"
            mv known_hosts "$home/.ssh/known_hosts"
            replica stores >stores
            has stores 'sftp://'
            replica help stores >stores
            has stores 'sftp://'
            echo text >storage/file
            replica add d --store "$url" >/dev/null
            mount_it
            content_is "$MNT/file" text
            # A domain whose server lets nobody in any more mounts all the same, and says so.
            umount "$MNT"
            end_daemon
            echo >ssh/authorized
            mount_it
            content_is "$MNT/file" text
            echo more >"$MNT/more"
            in_time says 'requires a password'
            cp ssh/id.pub ssh/authorized
            in_time content_is storage/more more
            """)
    }

    @Test func theProbeShowsTheFeatures() async throws {
        try await Self.run(
            """
            timeout 200 "$BIN/replica" probe "sftp://server$HERE/storage" >table || { cat table; exit 1; }
            grep -qE '^new files +kept +of two concurrent changes one wins' table || { cat table; exit 1; }
            grep -qE '^replacing +weak ' table
            grep -qE '^times +weak +kept in whole seconds' table
            grep -qE '^symbolic links +kept ' table
            grep -qE '^attributes +local ' table
            prints "" ls -A storage
            """)
    }

    @Test func testStoreChecksAllPromises() async throws {
        try await Self.run(
            """
            timeout 200 "$BIN/replica" test-store "sftp://server$HERE/storage" --only creat >table || { cat table; exit 1; }
            tail -n 1 table | grep -qE '^[1-9][0-9]* kept, [0-9]+ skipped, 0 broken$' || { cat table; exit 1; }
            prints "" ls -A storage
            """)
    }
}
