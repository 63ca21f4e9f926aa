import Foundation
import Testing

/// Logins that `replica login` asks for and keeps.
@Suite struct KeptLoginTests {
    private static let server = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "WebDAVStoreTests/webdav-server").path

    /// `at_terminal ANSWERS COMMAND...` runs it at a terminal of its own, answers each question with a line of the file, and prints what
    /// the terminal shows.
    private static let words = """
        at_terminal() {
            timeout 60 python3 -c '
        import os, pty, sys
        answers = open(sys.argv[1], "rb").read().splitlines(True)
        child, end = pty.fork()
        if child == 0:
            os.execvp(sys.argv[2], sys.argv[2:])
        shown = asked = b""
        while True:
            try:
                some = os.read(end, 4096)
            except OSError:
                break
            shown += some
            asked += some
            if asked.endswith(b": ") and answers:
                os.write(end, answers.pop(0))
                asked = b""
        sys.stdout.buffer.write(shown)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))' "$@"
        }
        # Sends a signal to one that asks for a password, and prints how it ended and how its terminal is then.
        ended_by() {
            timeout 60 python3 -c '
        import os, pty, signal, sys, termios
        child, end = pty.fork()
        if child == 0:
            os.execvp(sys.argv[1], sys.argv[1:-1])
        shown = b""
        while not shown.endswith(b": "):
            shown += os.read(end, 4096)
        assert not termios.tcgetattr(end)[3] & termios.ECHO
        os.kill(child, getattr(signal, "SIG" + sys.argv[-1]))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        wanted = termios.ECHO | termios.ICANON | termios.ISIG
        print(code, "echoes" if termios.tcgetattr(end)[3] & wanted == wanted else "is silent")' "$BIN/replica" login rclone:r: "$1"
        }

        """

    /// Root has no session, so its logins are in a file. The secret is then looked for everywhere but there.
    @Test func aLoginInAFileIsFoundAndItsSecretDoesNotLeak() async throws {
        let script = """
            make_bucket
            rm "$home/.aws/credentials"
            # Not for ours.
            export -n RCLONE_CONFIG_R_SECRET_ACCESS_KEY
            theirs() { RCLONE_CONFIG_R_SECRET_ACCESS_KEY=$secret rclone cat "r:bucket/some/folder/$1"; }
            printf '%s\\n' "$key" "$secret" "" >answers
            at_terminal answers "$BIN/replica" login "$url" >shown || { cat shown; exit 1; }
            has shown 'Secret key: '
            has shown "$key"
            lacks shown "$secret"
            has shown ".logins, which only its owner can read"
            equal "$(stat -c '%a %U' "$HERE/data/replica/.logins")" '600 root'
            rm answers
            echo text >"$SRC/file"
            replica import d "$SRC" --store "$url" >/dev/null
            mount_replica d "$MNT" -v
            in_time settle
            equal "$(theirs file)" text
            # A restart finds it, and another folder of the bucket.
            umount "$MNT"
            end_daemon
            mount_replica d "$MNT" -v -o foreground 2>log &
            in_time is_mounted
            content_is "$MNT/file" text
            echo more >"$MNT/more"
            in_time settle
            replica add e --store "s3://bucket/other?region=eu-x&endpoint=$endpoint" >/dev/null
            replica doctor d >said || true
            has said 'd: credentials: they are in '
            # Where others see it, or it stays.
            for pid in $(daemon) $(pgrep -P "$(daemon)"); do
                finds_no -qF "$secret" "/proc/$pid/cmdline" "/proc/$pid/environ"
            done
            grep -q '^Max core file size  *1  *1 ' "/proc/$(pgrep -P "$(daemon)")/limits"
            { cat /proc/mounts; replica list --json; replica status d; replica status d --json; } >>said
            lacks said "$secret"
            grep -q DEBUG log || grep -q debug log || fail "no details: $(head -c 300 log)"
            lacks log "$secret"
            test -s "$STATE/replica.db"
            if grep -rqF --exclude=.logins "$secret" data; then fail "the secret is in the state"; fi
            umount "$MNT"
            end_daemon
            prints "The login for s3://bucket?endpoint=$endpoint is removed." replica logout d
            test ! -e data/replica/.logins
            refused 15 "there are no keys" replica add f --store "$url"
            refused 1 "no login is saved for s3://bucket?endpoint=$endpoint" replica logout "$url"
            # From the environment of whoever starts the daemon, it is in that of no program that the daemon starts.
            # A hard limit of 0 would be none for a program that takes dumps. Not everywhere may root raise it.
            limit=$( (ulimit -c 0; python3 -c '
            import resource
            try:
                resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
            except ValueError:
                pass
            print(resource.getrlimit(resource.RLIMIT_CORE)[1])') )
            (ulimit -c 0; AWS_ACCESS_KEY_ID=$key AWS_SECRET_ACCESS_KEY=$secret replica mount d "$MNT" >/dev/null)
            echo again >"$MNT/again"
            in_time settle
            for pid in $(pgrep -P "$(daemon)"); do finds_no -qF "$secret" "/proc/$pid/environ"; done
            grep -q '^Max core file size  *0  *0 ' "/proc/$(daemon)/limits"
            grep -q "^Max core file size  *$limit  *$limit " "/proc/$(pgrep -P "$(daemon)")/limits"
            umount "$MNT"
            end_daemon
            """
        try await Trial.run { trial in
            try await trial.shell(BucketStoreTests.words + Self.words + "in_namespace <<'END'\n\(script)\nEND")
        }
    }

    /// Amazon's keys in the environment are for S3 alone: ssh, in whose place a program notes what it gets, has none.
    @Test func amazonKeysAreNotPassedToOtherPrograms() async throws {
        let script = #"""
            export PATH=$HERE/bin:$BIN:$PATH AWS_ACCESS_KEY_ID=sesame AWS_SECRET_ACCESS_KEY=sesame AWS_SESSION_TOKEN=sesame
            mkdir bin storage
            printf '#!/bin/sh\nenv >>"%s/seen"\nexec /usr/lib/openssh/sftp-server\n' "$HERE" >bin/ssh
            chmod 755 bin/ssh
            url=sftp://server$HERE/storage
            told_nothing() { has seen PATH= && lacks seen sesame && : >seen; }
            replica probe "$url" >/dev/null
            told_nothing
            replica test-store "$url" --only 'an empty file' >/dev/null
            told_nothing
            replica add d --store "$url" >/dev/null
            end_daemon
            told_nothing
            mount_it
            echo text >"$MNT/file"
            in_time settle
            content_is storage/file text
            replica unmount d
            told_nothing
            """#
        try await Trial.run { trial in try await trial.shell("as_replicatest <<'END'\n\(script)\nEND") }
    }

    /// Of an ordinary user, with a keyring on a session bus of their own. Their daemon has closed its memory to their other programs, and
    /// still does all that a mount does.
    @Test func aLoginInTheSecretServiceIsFoundAndRemoved() async throws {
        let script = #"""
            export XDG_RUNTIME_DIR=$HERE/run PATH=$BIN:$PATH
            mkdir -m 700 run
            says() { replica status d | grep -qF -- "$1"; }
            # One that can't be used is no place for a login.
            export DBUS_SESSION_BUS_ADDRESS=$(dbus-daemon --session --fork --print-address)
            printf '%s\n' user pass >answers
            at_terminal answers "$BIN/replica" login "dav://$place/" >shown || { cat shown; exit 1; }
            has shown "the Secret Service can't be used: "
            has shown '.logins, which only its owner can read'
            prints "The login for dav://user@$place is removed." replica logout "dav://$place/elsewhere"
            # Where a person would be asked to open the keyring, who does not answer.
            mkdir -p run/dbus-1/services
            printf '#!/bin/sh\necho asked >>"%s/asked"\nsleep 2\nexit 1\n' "$HERE" >prompter
            chmod 755 prompter
            printf '%s\n' '[D-BUS Service]' Name=org.gnome.keyring.SystemPrompter "Exec=$HERE/prompter" >run/dbus-1/services/org.gnome.keyring.SystemPrompter.service
            : >asked
            export DBUS_SESSION_BUS_ADDRESS=$(dbus-daemon --session --fork --print-address)
            open_keyring() { printf keyring | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null; }
            keyring() { pgrep -f '^gnome-keyring-daemon --unlock'; }
            open_keyring
            at_terminal answers "$BIN/replica" login "dav://$place/" >shown || { cat shown; exit 1; }
            has shown "The login for dav://user@$place is in the Secret Service."
            lacks shown pass$'\r'
            finds_no -q 'pass$' data/replica/.logins
            kept() { secret-tool lookup application replica store "dav://user@$place"; }
            equal "$(kept)" $'password=pass\nuser=user'
            echo theirs >theirs
            curl -fsS -u user:pass -T theirs "http://$place/theirs"
            replica add d --store "dav://$place/" >/dev/null
            mount_it
            content_is "$MNT/theirs" theirs
            replica doctor d >said || true
            has said 'd: credentials: they are in the Secret Service'
            for pid in $(daemon) $(pgrep -P "$(daemon)"); do
                # Closed: the kernel gives what is in there to root.
                equal "$(stat -c %U "/proc/$pid/environ")" root
                not head -c 1 "/proc/$pid/environ" >/dev/null 2>&1
            done
            # What works on descriptors by their paths in /proc.
            cd "$MNT"
            head -c 3000000 /dev/urandom >big
            cmp big <(cat big)
            truncate -s 100000 big
            setfattr -n user.test -v value big
            equal "$(getfattr --only-values -n user.test big)" value
            mkdir folder
            setfacl -m d:u:replicatest:rwx folder 2>/dev/null || true
            mv big folder/
            exec {held}<>folder/big
            rm folder/big
            equal "$(stat -Lc %s "/proc/self/fd/$held")" 100000
            exec {held}>&-
            echo made >folder/made
            chmod 600 folder/made
            cd "$HERE"
            in_time settle
            equal "$(curl -fsS -u user:pass "http://$place/folder/made")" made
            replica evict d:folder/made
            content_is "$MNT/folder/made" made
            curl -fsS -u user:pass -T theirs "http://$place/cold"
            in_time test -e "$MNT/cold"
            replica unmount d
            end_daemon
            # A second login on the server changes nothing for the domain.
            echo wrong >answers
            at_terminal answers "$BIN/replica" login "dav://other@$place/" >shown
            mount_it
            in_time settle
            replica doctor d >said || true
            has said 'd: credentials: they are in the Secret Service'
            replica unmount d
            end_daemon
            refused 1 'there are several logins for' replica logout "dav://$place/"
            prints "The login for dav://other@$place is removed." replica logout "dav://other@$place/"
            # A locked keyring: its owner is asked once, reads end, and logout does not say that it is done.
            collection=/org/freedesktop/secrets/collection/login
            dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets \
                org.freedesktop.Secret.Service.Lock array:objpath:$collection >/dev/null
            mount_it
            in_time test -s asked
            for try in 1 2 3; do
                got=0
                timeout 120 cat "$MNT/cold" >read 2>said || got=$?
                equal "$got" 1
                has said 'Permission denied'
                in_time says 'is locked'
                replica retry d >/dev/null
            done
            equal "$(wc -l <asked)" 1
            refused 1 'is locked' replica logout d
            has data/replica/.logins "[dav://user@$place] secret-service"
            # What a command that is killed has there is listed before; what can't be kept there is kept in the file.
            echo pass >answers
            at_terminal answers "$BIN/replica" login "dav://second@$place/" >shown & asking=$!
            eventually has data/replica/.logins "[dav://second@$place] secret-service"
            wait "$asking"
            has shown '.logins, which only its owner can read'
            finds_no -qFx "[dav://second@$place] secret-service" data/replica/.logins
            prints "The login for dav://second@$place is removed." replica logout "dav://second@$place/"
            # It is opened, and all goes on.
            pid=$(keyring)
            kill -9 "$pid"
            gone "$pid"
            open_keyring
            in_time content_is "$MNT/cold" theirs
            replica unmount d
            end_daemon
            equal "$(kept)" $'password=pass\nuser=user'
            # Without a session, the one there stays, and that is said.
            echo other >answers
            DBUS_SESSION_BUS_ADDRESS=unix:path=$HERE/none at_terminal answers "$BIN/replica" login "dav://user@$place/" >shown
            has shown "the earlier login for dav://user@$place could not be removed from the Secret Service"
            has data/replica/.logins 'password=other'
            echo pass >answers
            at_terminal answers "$BIN/replica" login "dav://user@$place/" >shown
            has shown 'is in the Secret Service.'
            finds_no -q 'password=' data/replica/.logins
            equal "$(kept)" $'password=pass\nuser=user'
            # One that does not answer.
            kill -STOP "$(keyring)"
            echo pass >answers
            at_terminal answers "$BIN/replica" login "dav://third@$place/" >shown
            has shown 'the Secret Service does not answer'
            has data/replica/.logins "[dav://third@$place]"
            kill -CONT "$(keyring)"
            prints "The login for dav://third@$place is removed." replica logout "dav://third@$place/"
            prints "The login for dav://user@$place is removed." replica logout d
            prints '' eval 'kept || true'
            refused 15 'the server requires a login' replica add e --store "dav://$place/"
            """#
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    mkfifo input
                    "\(Self.server)" lighttpd "$HERE/server" <input >output & server=$!
                    exec {held}>input
                    in_time grep -q READY output
                    place=$(sed -n 's/^DAV_SERVER=//p' output)
                    export place
                    got=0
                    as_replicatest <<'END' || got=$?
                    \(script)
                    END
                    exec {held}>&-
                    wait "$server" || true
                    exit "$got"
                    """)
        }
    }

    @Test func unsavedLoginsAreReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    refused 15 'ssh logs in by itself' setsid "$BIN/replica" login sftp://host/folder
                    refused 15 'has no login' setsid "$BIN/replica" login file:///folder
                    refused 64 'there is no terminal to ask at: write a file, and pass it as --credentials' setsid "$BIN/replica" login s3://bucket
                    refused 15 'has no login' replica logout file:///folder
                    got=0; at_terminal /dev/null "$BIN/replica" login davs://%ff@host/ >shown || got=$?
                    equal "$got" 15; has shown "replica: the URL's user is not valid"
                    printf 'p\n' >answers
                    got=0
                    at_terminal answers setpriv --reuid=54321 --clear-groups env -u HOME -u XDG_DATA_HOME "$BIN/replica" login rclone:r: >shown ||
                        got=$?
                    equal "$got" 1; has shown 'replica: there is no home directory'
                    # A server that grants nothing that can be used.
                    { declare -f; cat; } >script <<'END'
                    set -Eeuo pipefail
                    leave_others
                    mount -t tmpfs -o mode=755 none /usr/local/lib
                    place=/usr/local/lib/replica/stores; mkdir -p "$place"
                    [ ! -d /usr/lib/replica/stores ] || mount -t tmpfs none /usr/lib/replica/stores
                    grants() { printf '#!/bin/sh\necho '"'%s'"'\n' "$1" >"$place/replica-store-webdav"; chmod 755 "$place/replica-store-webdav"; }
                    grants nonsense
                    refused 1 "$place/replica-store-webdav does not say what was granted" replica login https://host
                    grants '{"store":"file:///x","user":"u","password":"p"}'
                    refused 15 "the server names no store" replica login https://host
                    END
                    unshare --mount --propagation private bash "$HERE/script"
                    # Given up: nothing is kept, and the file is not there.
                    printf '\003' >answers
                    got=0
                    at_terminal answers "$BIN/replica" login rclone:remote:folder "$HERE/file" >shown || got=$?
                    equal "$got" 18
                    has shown 'replica: no login was saved'
                    test ! -e file && test ! -e data/replica/.logins
                    at_terminal answers "$BIN/replica" login s3://bucket "$HERE/file" >shown || true
                    has shown 'Access key: '
                    test ! -e file && test ! -e data/replica/.logins
                    # Of no user that could end a line.
                    printf 'p\n' >answers
                    got=0
                    at_terminal answers "$BIN/replica" login 'davs://a%0Ab@host/' >shown || got=$?
                    equal "$got" 15
                    test ! -e data/replica/.logins
                    # A signal leaves the terminal as it was.
                    equal "$(ended_by TERM)" '-15 echoes'
                    equal "$(ended_by INT)" '-2 echoes'
                    # A user who was asked for is in the URL that works from then on.
                    printf '%s\n' me@home p >answers
                    at_terminal answers "$BIN/replica" login davs://host/folder >shown
                    has shown 'replica add NAME --store davs://me%40home@host/folder'
                    replica logout davs://host >/dev/null
                    # A file for fstab.
                    printf 'sesame\n' >answers
                    at_terminal answers "$BIN/replica" login rclone:remote:folder "$HERE/file" >shown
                    prints 'password=sesame' cat file
                    equal "$(stat -c %a file)" 600
                    at_terminal answers "$BIN/replica" login rclone:remote:folder "$HERE/file" >shown || got=$?
                    has shown 'File exists'
                    # Secrets that a store names in its own way.
                    printf 'account\nme\ntoken\nsesame\n\n' >answers
                    at_terminal answers "$BIN/replica" login example:///folder >shown
                    lacks shown sesame
                    has data/replica/.logins 'token=sesame'
                    chmod 644 data/replica/.logins
                    refused 1 'can be read by others: chmod 600 it' replica logout example:///folder
                    """#)
        }
    }
}
