import Testing

/// `replica doctor` where the state of a domain is not complete.
@Suite struct DoctorStateTests {
    @Test func aMissingRecordIsFound() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                doctorWords + #"""
                    privately <<'END'
                    only_ours
                    import_it; settle; end_daemon
                    mv "$STATE/domain.json" saved
                    finds 20 "error    d: state: $STATE can't be read: domain.json is missing" doctor_d
                    finds 20 "error    d: state: $STATE can't be read: domain.json is missing" replica doctor
                    equal "$(mend state)" "\${EDITOR:-editor} $STATE/domain.json"
                    refused 4 "$STATE is a domain whose domain.json is missing: see 'replica doctor'" \
                        replica add d --store "file://$STORE"
                    export EDITOR="cp saved"
                    follow state doctor_d
                    mkdir data/replica/other
                    replica doctor >said 2>&1 || true
                    has said "fine     d: state"
                    finds_no -q other said
                    END
                    """#)
        }
    }

    @Test func aRemovalThatFailedIsReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                doctorWords + #"""
                    privately <<'END'
                    only_ours
                    mkdir "$SRC/s"; echo held >"$SRC/s/held"; begin; settle
                    chattr +i "$TREE/s/held"
                    refused 1 "the removal of d is not finished" replica remove d
                    finds 20 "error    d: state: $STATE: its removal is not finished" doctor_d
                    equal "$(mend state)" "replica remove d"
                    replica status d | grep "^d .*stopped: its removal is not finished: 'replica remove d' continues it"
                    replica list 2>&1 >/dev/null | grep "d: its removal is not finished: 'replica remove d' continues it"
                    chattr -i "$TREE/s/held"
                    eval "$(mend state)"
                    not test -e "$STATE"
                    END
                    """#)
        }
    }
}
