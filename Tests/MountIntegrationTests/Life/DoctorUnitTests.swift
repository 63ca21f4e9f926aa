import Testing

/// `replica doctor` with units of systemd, where one can be booted.
@Suite struct DoctorUnitTests {
    @Test func theFixStartsAFailedUnit() async throws {
        try await UnitTests.booted(
            doctorWords + #"""
                units_in /usr/local/lib/systemd
                # systemd gives up after three starts instead of ten.
                sed -i 's/^StartLimitBurst=.*/StartLimitBurst=3/' /usr/local/lib/systemd/system/replica@.service
                mkdir -p /srv/src /srv/place; echo one >/srv/src/one
                replica import d /srv/src --store file:///srv/store --create >/dev/null
                replica mount d /srv/place --at-boot >/dev/null
                mended unit doctor_d; mended mount doctor_d
                systemctl stop replica@d
                rmdir /srv/place
                finds 20 "error    d: mount: /srv/place, where it is to be mounted, is missing" doctor_d
                mended unit doctor_d
                systemctl start replica@d || true
                given_up() { systemctl is-failed --quiet replica@d; }
                eventually given_up
                finds 20 "error    d: unit: its unit replica@d.service has failed; 'replica log d' says why" doctor_d
                equal "$(mend unit)" "systemctl --system reset-failed replica@d.service && systemctl --system start replica@d.service"
                equal "$(mend mount)" "mkdir -p /srv/place"
                follow mount doctor_d
                finds - "error    d: unit: its unit replica@d.service has failed" doctor_d
                follow unit doctor_d
                content_is /srv/place/one one
                """#)
    }
}
