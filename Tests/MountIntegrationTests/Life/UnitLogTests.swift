import Testing

/// `replica log` of a daemon that its unit runs, under a systemd that is booted for the test.
@Suite struct UnitLogTests {
    @Test func theLogOfAUsersUnitIsShown() async throws {
        try await UnitTests.booted(
            #"""
            units_in /usr/local/lib/systemd
            log_in
            as_booted <<'USER'
                mkdir -p src place; echo one >src/one
                replica import photos src --store "file://$HOME/store" --create >/dev/null
                replica mount photos place --at-login
                "$BIN/replica" log photos -f >followed 2>&1 & follower=$!
                # What its user can't read is postponed. A daemon that looked between the two could read it.
                pid=$(systemctl --user show -P MainPID replica@photos)
                kill -STOP "$pid"; echo 'one and two' >store/one; chmod 000 store/one; kill -CONT "$pid"
                eventually has followed "a change is postponed"
                kill "$follower"
                replica log photos >said
                has said "a change is postponed"
                chmod 644 store/one

                # Why it can't start the next time.
                systemctl --user stop replica@photos
                mv place elsewhere
                lacks said "$HOME/place: No such file"
                not systemctl --user start replica@photos 2>/dev/null
                replica log photos >said
                has said "mount.replica: $HOME/place: No such file or directory"
                systemctl --user stop replica@photos

                # Its daemon without a mount, which answers a command.
                replica mount photos --not-at-login
                jq '.store = "nonsense"' "$HOME/.local/share/replica/photos/domain.json" >edited
                cat edited >"$HOME/.local/share/replica/photos/domain.json"
                not "$BIN/mount.replica" --serve photos -o foreground >reply 2>&1
                has reply "not a store URL"
                replica log photos >said
                has said "mount.replica: not a store URL"
            USER
            """#)
    }

    /// The journal has the same lines.
    @Test func theLogOfTheMachinesUnitIsShown() async throws {
        try await UnitTests.booted(
            #"""
            units_in /usr/local/lib/systemd
            mkdir -p /srv/src /srv/photos; echo one >/srv/src/one
            replica import d /srv/src --store file:///srv/store --create >/dev/null
            replica mount d /srv/photos --at-boot
            systemctl stop replica@d
            mv /srv/photos /srv/elsewhere
            not systemctl start replica@d 2>/dev/null
            replica log d >said
            has said "mount.replica: /srv/photos: No such file or directory"
            mv /srv/elsewhere /srv/photos
            systemctl start replica@d
            content_is /srv/photos/one one
            in_journal() { journalctl --no-pager -q -o cat -u replica@d | grep -qF "/srv/photos: No such file or directory"; }
            eventually in_journal
            """#)
    }
}
