import Testing

/// The daemon as a service's main process, with a service manager that is a socket.
@Suite struct SystemdNoticeTests {
    private static let words = #"""
        # Writes each datagram to `told`, a line of dots after each.
        listen() {
            /usr/bin/python3 -c '
        import socket, sys
        end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        end.bind(sys.argv[1].replace("@", "\0", 1) if sys.argv[1][0] == "@" else sys.argv[1])
        open("listening", "w").close()
        while True:
            said = end.recv(4096)
            with open("told", "ab") as told: told.write(said + b"\n...\n")
        ' "$1" &
            listener=$!
            eventually test -e listening
        }
        serve() { NOTIFY_SOCKET=$1 "$BIN/mount.replica" d "$MNT" -o foreground 2>log & served=$!; }

        """#

    @Test func readinessAndStoppingAreNotified() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    import_it
                    # The daemon of the import, which has no mount, gives way.
                    listen "$HERE/notify"; : >told
                    serve "$HERE/notify"
                    eventually has told "READY=1"
                    is_mounted
                    eventually has told "STATUS=d: mounted on $MNT"
                    equal "$(daemon)" "$served"
                    kill "$served"; wait "$served"
                    eventually has told STOPPING=1
                    not is_mounted
                    kill "$listener"
                    """#)
        }
    }

    @Test func theWatchdogIsFedOverAnAbstractSocketToo() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    import_it; settle; end_daemon
                    listen "@replica-test-$$"; : >told
                    export WATCHDOG_USEC=300000
                    serve "@replica-test-$$"
                    fed() { [ "$(grep -c WATCHDOG=1 told)" -ge 3 ]; }
                    eventually fed
                    eventually has told "STATUS=d: mounted on $MNT, 0 pending"
                    kill "$served"; wait "$served"
                    kill "$listener"
                    """#)
        }
    }

    /// The mount stays with its programs, and the unit's log contains the reason.
    @Test func aServiceTakesNoMountFromAnotherDaemon() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    begin; mkdir other
                    refused 32 "is already mounted on $MNT by another daemon" env NOTIFY_SOCKET=@nobody \
                        "$BIN/mount.replica" d "$HERE/other" -o foreground
                    is_mounted
                    """#)
        }
    }

    @Test func aFalseServiceManagerIsHarmless() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    import_it; end_daemon
                    serve "$HERE/nobody"
                    eventually is_mounted
                    eventually has log "the service manager can't be notified"
                    kill "$served"; wait "$served"
                    serve relative
                    eventually is_mounted
                    equal "$(grep -c "NOTIFY_SOCKET is not a valid" log)" 1
                    kill "$served"; wait "$served"
                    # In the background there is no service manager to notify.
                    said=$(NOTIFY_SOCKET=relative timeout 60 "$BIN/mount.replica" d "$MNT" 2>&1)
                    equal "$said" ""
                    is_mounted
                    """#)
        }
    }

    /// SIGTERM uploads pending changes within the unit's limit; a second SIGTERM, or the limit, stops that.
    @Test func aStopUploadsPendingChanges() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    import_it; settle; end_daemon
                    export REPLICA_FLUSH_SECONDS=60
                    listen "$HERE/notify"; : >told
                    serve "$HERE/notify"
                    eventually has told READY=1
                    for n in $(seq 30); do echo "$n" >"$MNT/new$n"; done
                    kill "$served"; wait "$served"
                    for n in $(seq 30); do content_is "$STORE/new$n" "$n"; done
                    eventually has told "uploading pending changes, then stopping"

                    # What can't be uploaded is not waited for, though the limit is a day.
                    export REPLICA_FLUSH_SECONDS=86400
                    serve "$HERE/notify"
                    eventually is_mounted
                    replica disconnect d --reason test >/dev/null
                    echo more >"$MNT/more"
                    kill "$served"; wait "$served"
                    not is_mounted
                    not test -e "$STORE/more"
                    replica connect d >/dev/null; settle
                    content_is "$STORE/more" more
                    end_daemon
                    kill "$listener"
                    """#)
        }
    }

    /// With continuous writes the store never has everything: the limit ends the wait, and so does the next signal.
    @Test func theUploadAtAStopTimesOut() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    import_it; settle; end_daemon
                    listen "$HERE/notify"; : >told
                    write_on() { while echo x >"$MNT/file$((RANDOM % 50))"; do :; done 2>/dev/null; }
                    for limit in 1 86400; do
                        : >told
                        REPLICA_FLUSH_SECONDS=$limit serve "$HERE/notify"
                        eventually has told READY=1
                        write_on & writer=$!
                        eventually test -e "$MNT/file1"
                        kill "$served"
                        eventually has told "uploading pending changes"
                        [ "$limit" = 1 ] || kill "$served"
                        wait "$served"
                        not is_mounted
                        kill "$writer" 2>/dev/null || true
                        rm -f "$MNT"/file*
                    done
                    kill "$listener"
                    """#)
        }
    }
}
