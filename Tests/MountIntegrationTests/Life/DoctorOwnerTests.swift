import Testing

/// `replica doctor` where others own or can read what only the domain's user may.
@Suite struct DoctorOwnerTests {
    @Test func theFixRestoresTheOwnerOfTheState() async throws {
        try await Trial.runDoctor(
            withUser: true,
            #"""
            import_it; settle; end_daemon
            chown replicatest "$STATE/domain.json"
            finds 20 "error    d: state: $STATE/domain.json belongs to another user" doctor_d
            equal "$(mend state)" "chown 0 $STATE/domain.json"
            follow state doctor_d
            chown -R replicatest "$HERE"
            for_user() { as_user "$BIN/replica" doctor d; }
            mended state for_user
            chown root "$STATE/replica.db"
            finds 20 "error    d: state: $STATE/replica.db belongs to another user" for_user
            equal "$(mend state)" "sudo chown $(id -u replicatest) $STATE/replica.db"
            follow state for_user
            # What its user can't enter is a domain all the same.
            chmod 000 "$STATE"
            finds 20 "error    d: state: $STATE" for_user
            chmod 700 "$STATE"
            mended state for_user
            """#)
    }

    /// Only a person can tell what to do.
    @Test func aStateThatOthersCanReplaceIsFound() async throws {
        try await Trial.runDoctor(
            #"""
            import_it; settle; end_daemon
            chmod 777 data/replica
            finds 20 "error    d: state: $HERE/data/replica can be changed by others" doctor_d
            no_mend state
            chmod 755 data/replica
            mended state doctor_d
            mv "$STATE/kept" "$HERE/kept"
            ln -s "$HERE/kept" "$STATE/kept"
            finds 20 "error    d: state: $STATE/kept is not a directory" doctor_d
            no_mend state
            rm "$STATE/kept"
            mended state doctor_d
            """#)
    }

    @Test func theFixRestoresTheOwnerOfSecrets() async throws {
        try await Trial.runDoctor(
            withUser: true,
            #"""
            import_it; settle; end_daemon
            # What replica login keeps.
            logins=$HERE/data/replica/.logins
            printf '[s3://bucket/]\naccess_key=a\nsecret_key=b\n' >"$logins"
            chmod 600 "$logins"
            set_store s3://bucket/
            mended credentials doctor_d
            chmod 644 "$logins"
            finds 20 "error    d: credentials: $logins can be read by others" doctor_d
            follow credentials doctor_d
            chown replicatest "$logins"
            finds 20 "error    d: credentials: $logins belongs to another user" doctor_d
            follow credentials doctor_d
            echo nonsense >"$logins"
            finds 20 "error    d: credentials: $logins: line 1 is neither" doctor_d
            no_mend credentials
            rm "$logins"
            mended credentials doctor_d

            # A file of its options.
            printf 'access_key=a\nsecret_key=b\n' >key
            chmod 600 key
            jq --arg o "credentials=$HERE/key" '.options = [$o]' "$STATE/domain.json" >edited
            cat edited >"$STATE/domain.json"
            mended credentials doctor_d
            chown replicatest key
            finds 20 "error    d: credentials: $HERE/key belongs to another user" doctor_d
            equal "$(mend credentials)" "chown 0 $HERE/key"
            follow credentials doctor_d
            """#)
    }
}
