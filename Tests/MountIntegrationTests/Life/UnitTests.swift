import Foundation
import Testing

/// `replica mount --at-login` and `--at-boot`, under a systemd that is booted for the test. If none can be booted, that
/// is reported on standard error.
@Suite struct UnitTests {
    static let words =
        bootWords + #"""
            units_in() {
                local scope
                for scope in user system; do
                    mkdir -p "$1/$scope"
                    sed "s#@sbindir@#$BIN#; s#@bindir@#$BIN#" "$ROOT/systemd/$scope/replica@.service" >"$1/$scope/replica@.service"
                done
            }
            # A user who is logged in, and a shell of theirs.
            log_in() {
                useradd --create-home --shell /bin/bash booted
                loginctl enable-linger booted
                eventually test -S "/run/user/$(id -u booted)/bus"
            }
            as_booted() {
                { declare -f; echo "BIN=$BIN ROOT=$ROOT"; echo "set -Eeuo pipefail; trap 'echo failed at \$LINENO: \$BASH_COMMAND' ERR; cd"; cat; } >/run/as-booted
                chmod 644 /run/as-booted
                runuser -u booted -- env -i PATH="$PATH" HOME=/home/booted LC_ALL=C.UTF-8 XDG_RUNTIME_DIR="/run/user/$(id -u booted)" \
                    bash /run/as-booted
            }
            answers() { timeout 5 ls -- "$1" >/dev/null 2>&1; }
            # Whether any domain is.
            mounted() { grep -q " fuse.replica " /proc/self/mounts; }

            """#

    /// Runs a script with these words where systemd was booted.
    static func booted(_ script: String, location: SourceLocation = #_sourceLocation) async throws {
        try await Trial.run { trial in
            let output = try await trial.shell(words + "boot <<'END'\n\(script)\nEND", location: location)
            for line in output.split(separator: "\n") where line.hasPrefix("NOT RUN") {
                FileHandle.standardError.write(Data("\(line)\n".utf8))
            }
        }
    }

    @Test func aDomainIsMountedAtLogin() async throws {
        try await Self.booted(
            #"""
            units_in /usr/local/lib/systemd
            log_in
            as_booted <<'USER'
                name='my photos-1 $HOME ${X} %n \x41 "ü" ;'
                unit="replica@$(systemd-escape -- "$name").service"
                place=$HOME/$(printf 'a %%n\n$HOME\\x41 "ü'"'"'')
                mkdir -p src "$place"; echo one >src/one
                replica import "$name" src --store "file://$HOME/store" --create
                replica mount "$name" "$place" --at-login -o noatime
                systemctl --user is-active --quiet "$unit"
                equal "$(cat "$place/one")" one
                case $(findmnt -n -o OPTIONS -t fuse.replica) in *noatime*) ;; *) fail "$(findmnt)" ;; esac
                # systemd drops backslashes from what it is told.
                told=$(systemctl --user show -P StatusText "$unit")
                case $told in "${name//\\/}: mounted on $HOME/a %n?"*) ;; *) fail "$told" ;; esac
                pid=$(systemctl --user show -P MainPID "$unit")
                equal "$(cat "/proc/$pid/comm")" mount.replica
                systemctl --user is-enabled --quiet "$unit"
                systemd-analyze --user --man=no verify "$unit"

                # Killed while a program is in there: the dead mount goes, another comes.
                (cd "$place" && exec sleep 1000) & inside=$!
                is_inside() { [ "$(readlink "/proc/$inside/cwd")" = "$place" ]; }
                eventually is_inside
                kill -9 "$pid"
                again() { [ "$(systemctl --user show -P MainPID "$unit")" != "$pid" ] && answers "$place" && [ -e "$place/one" ]; }
                eventually again
                equal "$(grep -c " fuse.replica " /proc/self/mounts)" 1
                kill "$inside"

                # Stopped with what is pending, which is uploaded.
                for n in $(seq 20); do echo "$n" >"$place/new$n"; done
                systemctl --user stop "$unit"
                for n in $(seq 20); do content_is "store/new$n" "$n"; done
                equal "$(systemctl --user show -P Result "$unit")" success
                not mounted

                # A daemon without a mount gives way.
                replica status "$name:one" >/dev/null
                systemctl --user start "$unit"
                equal "$(cat "$place/one")" one
                # What is mounted elsewhere is not taken.
                mkdir other
                refused 12 "is already mounted on" replica mount "$name" other --at-login
                # The same again changes nothing.
                before=$(systemctl --user show -P MainPID "$unit")
                replica mount "$name" "$place" --at-login
                equal "$(systemctl --user show -P MainPID "$unit")" "$before"
            USER
            # The next login.
            systemctl restart "user@$(id -u booted).service"
            as_booted <<'USER'
                name='my photos-1 $HOME ${X} %n \x41 "ü" ;'
                eventually mounted
                replica mount "$name" --not-at-login
                mounted
                refused 9 "is not mounted at login" replica mount "$name" --not-at-login
                not test -e .config
            USER
            systemctl restart "user@$(id -u booted).service"
            sleep 1
            not mounted
            """#)
    }

    /// The daemon that mounted it by hand would not be restarted after a crash.
    @Test func aMountedDomainIsTakenOverByItsUnit() async throws {
        try await Self.booted(
            #"""
            units_in /usr/local/lib/systemd
            log_in
            as_booted <<'USER'
                mkdir src place; echo one >src/one
                replica import d src --store "file://$HOME/store" --create >/dev/null
                replica mount d place >/dev/null
                # A program that is in it keeps its mount.
                (cd place && exec sleep 1000) & inside=$!
                is_inside() { [ "$(readlink "/proc/$inside/cwd")" = "$HOME/place" ]; }
                eventually is_inside
                replica mount d place --at-login >said
                has said "it is in use, so systemd takes it over only then"
                is_active() { systemctl --user is-active --quiet replica@d; }
                not is_active
                content_is place/one one
                kill "$inside"; wait "$inside" || true
                taken_over() { replica mount d place --at-login >said && is_active; }
                eventually taken_over
                lacks said "in use"
                pid=$(systemctl --user show -P MainPID replica@d); kill -9 "$pid"
                again() { [ "$(systemctl --user show -P MainPID replica@d)" != "$pid" ] && content_is place/one one; }
                eventually again
                # What can't be mounted again stays mounted.
                systemctl --user stop replica@d; replica mount d place >/dev/null
                refused 64 "unknown option 'nonsense'" replica mount d place --at-login -o nonsense
                content_is place/one one
            USER
            """#)
    }

    @Test func aDomainIsMountedAtBoot() async throws {
        try await Self.booted(
            #"""
            units_in /usr/local/lib/systemd
            # systemd gives up after three starts instead of ten.
            unit=/usr/local/lib/systemd/system/replica@.service
            sed -i 's/^StartLimitBurst=.*/StartLimitBurst=3/' "$unit"; grep -qx StartLimitBurst=3 "$unit"
            mkdir -p /srv/src "/srv/my photos"; echo one >/srv/src/one
            replica import d /srv/src --store file:///srv/store --create
            refused 64 "use --at-boot" replica mount d "/srv/my photos" --at-login
            replica mount d "/srv/my photos" --at-boot -o allow_other
            content_is "/srv/my photos/one" one
            systemctl is-active --quiet replica@d
            systemctl show -P Wants multi-user.target | grep -qw replica@d.service
            # Its place is unmounted after it.
            systemctl show -P After replica@d | grep -q 'srv-my.*x20photos\.mount'
            # What others may do on a filesystem works in it: all that the unit keeps from the daemon is not needed.
            (cd "/srv/my photos" && touch f && chmod 4755 f && chown nobody f && mkfifo p && mknod n c 1 3 && chattr +i f && chattr -i f &&
                setfattr -n user.x -v y f && setcap cap_net_raw+ep one && mkdir -p a/b && mv a c)
            equal "$(runuser -u nobody -- cat "/srv/my photos/one")" one
            kill -9 "$(systemctl show -P MainPID replica@d)"
            again() { content_is "/srv/my photos/one" one && systemctl is-active --quiet replica@d; }
            eventually again
            # Crash after crash: no mount is left that nobody serves.
            # Only when it is mounted: a start removes the mount that the crash before left.
            given_up() {
                case $(systemctl show -P ActiveState replica@d) in
                    failed) return 0 ;;
                    active) mounted && systemctl kill -s KILL replica@d ;;
                esac
                false
            }
            eventually given_up
            not mounted
            systemctl reset-failed replica@d
            systemctl start replica@d
            content_is "/srv/my photos/one" one
            systemctl stop replica@d
            replica mount d --not-at-boot
            not test -e /etc/systemd/system/replica@d.service.d
            not test -L /etc/systemd/system/multi-user.target.wants/replica@d.service
            """#)
    }

    /// An impossible request fails with one line, and leaves nothing behind.
    @Test func failedMountsAreNotRepeatedAtLogin() async throws {
        try await Self.booted(
            #"""
            log_in
            as_booted <<'USER'
                mkdir -p src place; echo one >src/one
                replica import d src --store "file://$HOME/store" --create >/dev/null
                refused 14 "there is no replica@.service where systemd looks for it" replica mount d place --at-login
                refused 13 "only root" replica mount d place --at-boot
                refused 3 "no domain named" replica mount e place --at-login
                long=$(printf -- '-%.0s' $(seq 80)); refused 3 "no domain" replica mount "x$long" place --at-login
                not test -e .config/systemd
            USER
            units_in /usr/local/lib/systemd
            as_booted <<'USER'
                # A folder that others may write to could give the unit any command.
                mkdir -p .config/systemd/user; chmod 777 .config/systemd
                refused 13 "can be changed by other users" replica mount d place --at-login
                chmod 755 .config/systemd
                # A mount that fails takes the unit back.
                refused 32 "systemd could not mount it" replica mount d none-such --at-login
                refused 32 "systemd could not mount it" replica mount d place --at-login -o nonsense
                refused 64 "UTF-8" replica mount d "$(printf 'pl\377ce')" --at-login
                not test -e .config/systemd/user/default.target.wants/replica@d.service
                not test -e .config/systemd/user/replica@d.service.d
                not mounted
                # A name that is as long as a domain's may be.
                long=$(printf 'x%.0s' $(seq 200)); mkdir long
                replica add "$long" --store "file://$HOME/long-store" --create >/dev/null
                replica mount "$long" long --at-login >/dev/null
                replica unmount "$long" >/dev/null
                replica remove "$long" >removed
                has removed "no longer mounted at login"
                not test -e .config
                long=$(printf -- '-%.0s' $(seq 80)); mkdir long2
                replica add "x$long" --store "file://$HOME/long2-store" --create >/dev/null
                refused 64 "too long for a unit" replica mount "x$long" long2 --at-login
                # Without a systemd of this user the mount is made all the same, and the unit is for the next login.
                XDG_RUNTIME_DIR=/nowhere replica mount d place --at-login >/dev/null
                mounted
                test -L .config/systemd/user/default.target.wants/replica@d.service
            USER
            # A machine that something else has booted.
            mount -t tmpfs none /run/systemd/system
            umount /run/systemd/system
            mkdir /srv/src /srv/m
            replica import d /srv/src --store file:///srv/store --create >/dev/null
            before=$(find /etc/systemd | sort)
            unshare -m bash -c 'mount -t tmpfs none /run/systemd; timeout 60 "$BIN/replica" mount d /srv/m --at-boot' >said 2>&1 || true
            has said "replica: this machine was not booted by systemd"
            equal "$(wc -l <said)" 1
            equal "$(find /etc/systemd | sort)" "$before"
            """#)
    }

    @Test func linesOfFstabAreMounted() async throws {
        try await Self.booted(
            #"""
            ln -s "$BIN/mount.replica" /sbin/mount.replica
            mkdir -p /srv/src /srv/photos "/srv/x y"; echo one >/srv/src/one
            replica import photos /srv/src --store file:///srv/store --create >/dev/null
            replica wait photos >/dev/null; replica unmount photos >/dev/null
            {
                echo 'photos /srv/photos replica allow_other,_netdev,nofail,user,x-systemd.automount,x-systemd.mount-timeout=1min 0 0'
                echo 'file:///srv/other /srv/x\040y replica noauto,nofail,create,exec,x-systemd.idle-timeout=5min 0 0'
                echo 'gone /srv/gone replica nofail 0 0'
            } >/etc/fstab
            systemctl daemon-reload
            equal "$(systemctl show -P Where srv-photos.automount)" /srv/photos
            equal "$(systemctl show -P Type srv-photos.mount)" replica
            systemctl show -P Options srv-photos.mount | grep -q '^allow_other,_netdev,nofail,user'
            # What fails holds nothing up.
            systemctl start remote-fs.target local-fs.target
            # By an automount, at the first access: with no daemon, and with one that serves the domain without a mount.
            systemctl start srv-photos.automount
            equal "$(timeout 300 cat /srv/photos/one)" one
            equal "$(systemctl is-active srv-photos.mount)" active
            systemctl stop srv-photos.mount
            not mounted
            replica wait photos >/dev/null
            equal "$(timeout 300 cat /srv/photos/one)" one
            equal "$(systemctl is-active srv-photos.mount)" active
            echo two >/srv/photos/two; replica wait photos >/dev/null
            equal "$(cat /srv/store/two)" two
            systemctl stop srv-photos.mount
            # By a mount unit, as at boot.
            sed -i 's/,x-systemd.automount//' /etc/fstab; systemctl daemon-reload; systemctl stop srv-photos.automount
            systemctl start srv-photos.mount
            equal "$(cat /srv/photos/one)" one
            equal "$(systemctl is-active srv-photos.mount)" active
            mount "/srv/x y"; touch "/srv/x y/new"
            replica wait other >/dev/null
            test -e /srv/other/new
            systemctl stop srv-photos.mount
            umount "/srv/x y"
            not mounted
            # A user's line.
            log_in
            as_booted <<'USER'
                mkdir src place; echo two >src/two
                replica import mine src --store "file://$HOME/store" --create >/dev/null
            USER
            echo 'mine /home/booted/place replica user,exec,noauto,nofail 0 0' >>/etc/fstab
            runuser -u booted -- mount /home/booted/place
            equal "$(runuser -u booted -- cat /home/booted/place/two)" two
            runuser -u booted -- umount /home/booted/place
            """#)
    }
}
