import Glibc
import Testing

/// Known and open files must not cost the daemon a descriptor each, or a big tree would exhaust them.
@Suite struct DescriptorTests {
    /// Files of unprivileged mounts are read and written by the daemon, which needs them open for that.
    @Test(.enabled(if: geteuid() == 0)) func knownAndOpenFilesNeedNoDescriptors() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                descriptors() { ls "/proc/$(daemon)/fd" | wc -l; }
                begin
                mkdir "$MNT/many"; echo first >"$MNT/many/first"; settle
                before=$(descriptors)
                for n in $(seq 400); do echo "$n" >"$MNT/many/$n"; done
                settle
                ls -l "$MNT/many" >/dev/null
                for n in $(seq 400); do exec {file}<"$MNT/many/$n"; done
                for n in $(seq 100); do exec {file}>>"$MNT/many/$n"; done
                few() { [ "$(descriptors)" -lt $((before + 100)) ]; }
                eventually few
                """)
        }
    }
}
