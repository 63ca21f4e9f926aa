import Foundation
import Testing

/// Domains in folders of a real WebDAV server, served by the store's program, which is installed where root's daemons
/// search, in a mount namespace.
@Suite struct WebDAVFolderTests {
    static let server = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "WebDAVStoreTests/webdav-server").path

    /// Runs the script from standard input; `$url` is a folder of a server, `$login` a credentials file, and `theirs …`
    /// is curl.
    private static let words =
        PrivateNamespace.words(
            hidesHome: false, preparation: PrivateNamespace.installing("replica-store-webdav")) + """
            start_server() {
                mkfifo "input-$1"
                "\(server)" "$1" "$HERE/server-$1" <"input-$1" >"output-$1" &
                exec {held}>"input-$1"
                in_time grep -q READY "output-$1"
                place=$(sed -n 's/^DAV_SERVER=//p' "output-$1")
                login=$HERE/login
                secret=pass
                printf 'user=user\\npassword=pass\\n' >login
                chmod 600 login
            }
            theirs() { curl -fsS -u user:pass "$@"; }
            is_theirs() { [ "$(theirs "http://$place/some%20folder/$1")" = "$2" ]; }
            names() { theirs -X PROPFIND -H 'Depth: 1' "http://$place/some%20folder/$1" | grep -o 'href>/[^<]*' | sed 's/^href>//' | sort | tr '\\n' ' '; }

            """

    private static func run(_ script: String, location: SourceLocation = #_sourceLocation) async throws {
        try await Trial.run { trial in
            try await trial.shell(words + "in_namespace <<'END'\n\(script)\nEND", location: location)
        }
    }

    /// Also during a hang of the server, and afterwards.
    @Test func aDirectoryIsImportedAndSyncedBothWays() async throws {
        try await Self.run(
            """
            start_server lighttpd
            theirs -X MKCOL "http://$place/some%20folder"
            url="dav://user@$place/some%20folder"
            mkdir "$SRC/folder"
            echo old >"$SRC/folder/old"
            echo text >"$SRC/file"
            chmod 640 "$SRC/file"
            touch -d '2020-02-03 04:05:06.789 UTC' "$SRC/file"
            head -c 3000000 /dev/urandom >"$SRC/large"
            replica import d "$SRC" --store "$url" --credentials "$login" >/dev/null
            mount_it
            settle
            equal "$(names '')" '/some%20folder/ /some%20folder/file /some%20folder/folder/ /some%20folder/large '
            theirs -o large "http://$place/some%20folder/large"
            cmp large "$MNT/large"
            is_theirs folder/old old
            echo more >>"$MNT/file"
            mv "$MNT/folder" "$MNT/moved"
            mkdir "$MNT/made"
            settle
            is_theirs file "$(printf 'text\\nmore')"
            echo theirs >theirs.txt
            theirs -T theirs.txt "http://$place/some%20folder/moved/theirs"
            theirs -X DELETE "http://$place/some%20folder/moved/old"
            in_time content_is "$MNT/moved/theirs" theirs
            in_time not test -e "$MNT/moved/old"
            # On another machine it is as it was made.
            replica add other --store "$url" --credentials "$login" >/dev/null
            mkdir other
            replica mount other other >/dev/null
            in_time content_is other/moved/theirs theirs
            equal "$(stat -c %a other/file)" 640
            date=$(stat -c %y "$MNT/file")
            equal "$(stat -c %y other/file)" "$date"
            test -d other/made
            diff -r "$MNT" other
            replica unmount other --flush
            # What is written while the server hangs is sent when it goes on.
            pid=$(pgrep -x lighttpd)
            kill -STOP "$pid"
            echo offline >"$MNT/offline"
            content_is "$MNT/moved/theirs" theirs
            kill -CONT "$pid"
            settle
            is_theirs offline offline
            # No secret is where others see it.
            pid=$(pgrep -P "$(daemon)")
            finds_no -q "$secret" "/proc/$pid/cmdline" "/proc/$pid/environ"
            test -s "$STATE/domain.json"
            if grep -rqE "pass(word)?[=:]$secret|user:$secret|$(printf user:pass | base64)" "$STATE"; then fail "the secret is in the state"; fi
            umount "$MNT"
            end_daemon
            gone "$pid"
            """)
    }

    @Test func failuresAreReported() async throws {
        try await Self.run(
            """
            start_server lighttpd
            printf 'user=user\\npassword=wrong\\n' >wrong
            chmod 600 wrong
            refused 15 "the server rejects this login" replica add x --store "dav://$place/" --credentials wrong
            refused 15 "the server requires a login" replica add x --store "dav://$place/"
            refused 15 "there is no folder dav://$place/none there" replica add x --store "dav://$place/none" --credentials login
            refused 15 "the URL's host may contain" replica add x --store "davs:///folder"
            refused 15 "unknown option" replica add x --store "dav://$place/?frob=1" --credentials login
            refused 15 "Failed to connect to 127.0.0.1" replica add x --store "davs://127.0.0.1:1/" --credentials login
            echo password=pass >only
            chmod 600 only
            refused 15 "add user= to the file" replica add x --store "dav://$place/" --credentials only
            plain=$place
            start_server tls
            refused 15 "certificate" replica add x --store "davs://$place/" --credentials login
            replica add e --store "davs://$place/?ca=$HERE/server-tls/certificate" --credentials login >/dev/null
            # A domain whose login is not taken any more mounts, and says so; with the right one it goes on.
            place=$plain
            echo before >before
            theirs -T before "http://$place/before"
            replica add d --store "dav://$place/" --credentials login >/dev/null
            mount_it
            cat "$MNT/before" >found || { replica status d; fail "not read"; }
            content_is found before
            umount "$MNT"
            end_daemon
            cp wrong login
            mount_it
            echo text >"$MNT/file"
            in_time says 'the server rejects this login'
            umount "$MNT"
            end_daemon
            printf 'user=user\\npassword=pass\\n' >login
            mount_it
            in_time settle
            equal "$(theirs "http://$place/file")" text
            """)
    }
}
