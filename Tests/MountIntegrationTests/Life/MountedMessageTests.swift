import Glibc
import Testing

/// The exact texts of failures of mounts and of new domains that no other suite is about (`MessageTextTests`).
@Suite struct MountedMessageTests {
    /// `says CODE LINE COMMAND...`: ends with this status and just this line, after the program's name.
    private let words = #"""
        says() {
            local code=$1 line=$2 said got=0
            shift 2
            said=$("$@" 2>&1 >/dev/null) || got=$?
            equal "$got" "$code" || fail "$*: $said" || return 1
            equal "${said#*replica: }" "$line"
        }

        """#

    @Test func failuresOfARunningDomainAreReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    for name in a b c; do echo "$name" >"$SRC/$name"; done
                    import_it; settle
                    says 64 "'nonsense' is not an error that can be resolved; these are: busy, cannotSynchronize, \#
                    excludedFromSync, insufficientQuota, notAuthenticated, readOnly, serverUnreachable" replica resolved nonsense d
                    end_daemon
                    # The record of a mount can't be written.
                    mkdir "$STATE/mount.json.new"
                    says 32 "$STATE: the mount cannot be recorded: Is a directory" mount_replica d "$MNT"
                    not is_mounted
                    rmdir "$STATE/mount.json.new"
                    mkdir "$STATE/kept/m"; mount -t tmpfs none "$STATE/kept/m"
                    says 12 "$STATE/kept/m is a mount below the domain's state: unmount it first" replica remove d
                    umount "$STATE/kept/m"; rmdir "$STATE/kept/m"
                    # A service manager's process takes no mount from another daemon.
                    mount_it
                    says 32 "d is already mounted on $MNT by another daemon" \
                        env NOTIFY_SOCKET=@nobody "$BIN/mount.replica" d "$MNT" -o foreground
                    # Its daemon is killed, and nobody here may unmount.
                    kill_daemon
                    says 1 "$MNT can't be unmounted" setpriv --bounding-set=-sys_admin "$BIN/replica" unmount d
                    umount -l "$MNT"
                    says 17 "$MNT/a: no daemon serves 'd' any more; 'replica mount d DIR' mounts it again" replica pin "$MNT/a"
                    """#)
        }
    }

    @Test func unusableMountpointsAreReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    import_it; settle
                    # Another filesystem's daemon is gone.
                    exec 9<>/dev/fuse
                    mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 other "$MNT"
                    exec 9>&-
                    says 32 "$MNT: other (fuse) is mounted there, but its daemon is gone" mount_replica d "$MNT"
                    umount "$MNT"
                    mkdir new
                    says 32 "$HERE/new is moved by the import: import first, create it again, then mount on it" \
                        mount_replica n "$HERE/new" -o "store=file://$STORE,import=$HERE/new"
                    """#)
        }
    }

    @Test func failuresOfNewDomainsAreReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    mkdir disk; mount -t tmpfs -o mode=700 none disk
                    mkdir "$SRC/dir"
                    says 32 "$HERE/disk/state is on a different filesystem than the directory" \
                        mount_replica d "$MNT" -o "store=file://$STORE,import=$SRC/dir,state=$HERE/disk/state"
                    mkdir -m 700 -p data/replica/d; echo mine >data/replica/d/mine
                    says 4 "$STATE already exists and was not created by this program: move it away, or choose another name" \
                        replica add d --store "file://$STORE"
                    rm -r data/replica/d
                    says 1 "/proc/nowhere can't be created: No such file or directory" \
                        env XDG_DATA_HOME=/proc/nowhere "$BIN/replica" add d --store "file://$STORE"
                    # The domains' directory is on a disk that can only be read.
                    mkdir -p far/replica; mount -t tmpfs -o mode=700 none far/replica; mount -o remount,ro far/replica
                    says 1 "$HERE/far/replica/d can't be created: Read-only file system" \
                        env XDG_DATA_HOME="$HERE/far" "$BIN/replica" add d --store "file://$STORE" -o "state=$HERE/disk/state"
                    says 1 "$HERE/far/replica/new can't be created: Read-only file system" \
                        env XDG_DATA_HOME="$HERE/data" "$BIN/replica" add d --store "file://$STORE" -o "state=$HERE/far/replica/new/state"
                    umount far/replica
                    prints "" ls -A disk
                    # A disk without extended attributes.
                    mkdir ram; mount -t ramfs -o mode=700 none ram
                    says 14 "$HERE/ram/replica/d: this filesystem keeps no extended attributes, which a domain needs" \
                        env XDG_DATA_HOME="$HERE/ram" "$BIN/replica" add d --store "file://$STORE"
                    prints "" ls -A ram
                    umount ram disk
                    # What mount.replica refuses is one line, and the user's mistake.
                    says 64 "unknown option 'bogus'" replica add d --store "file://$STORE" -o bogus
                    prints "" ls -A data/replica
                    """#)
        }
    }

    /// The daemon is killed while it waits for its turn to create the domain.
    @Test func aKilledDaemonIsReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    mkdir -m 700 -p data/replica
                    exec 8<data/replica
                    flock 8
                    # It gives up by itself if it is not found in time.
                    is_killed() {
                        local adding process got=0
                        "$BIN/replica" add d --store "file://$STORE" >/dev/null 2>said & adding=$!
                        while [ -e "/proc/$adding/exe" ]; do
                            process=$(pgrep -f -- "--started --add d file://$STORE") || continue
                            kill -9 "$process"
                            break
                        done
                        wait "$adding" || got=$?
                        [ "$got" -eq 5 ]
                    }
                    eventually is_killed
                    equal "$(cat said)" "replica: the daemon exited before it was ready"
                    """#)
        }
    }

    @Test func failuresOfAnOrdinaryUserAreReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    for name in a b c; do echo "$name" >"$SRC/$name"; done
                    as_replicatest <<'END'
                    begin; settle
                    replica evict d: >/dev/null
                    chmod 0 "$STORE/a" "$STORE/b"
                    got=0; replica download d: --recursive --wait >said 2>&1 || got=$?
                    not [ "$got" -eq 0 ]
                    has said ", and 1 more; the rest was downloaded"
                    content_is "$TREE/c" c
                    says 32 "$MNT: only root may remount" mount_replica d "$MNT" -o remount,ro
                    says 13 "only root can have a domain mounted at boot; --at-login is for your own" replica mount d "$MNT" --at-boot
                    unmount_it
                    END
                    says 32 "no directory for domains: neither XDG_DATA_HOME nor a home directory is set" \
                        setpriv --reuid=54321 --clear-groups env -u HOME -u XDG_DATA_HOME \
                        "$BIN/mount.replica" d "$MNT" -o "store=file://$STORE"
                    """#)
        }
    }

    /// With a systemd that does nothing, or nothing that works.
    @Test(.enabled(if: access("/usr/bin/systemctl", X_OK) == 0)) func failuresOfAutomaticMountsAreReported()
        async throws
    {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    import_it; settle; end_daemon
                    export home
                    { declare -f; cat; } >script <<'END'
                    set -Eeuo pipefail; trap 'echo "failed at $LINENO: $BASH_COMMAND" >&2' ERR
                    leave_others
                    at_boot() { replica mount "$1" "$2" --at-boot; }
                    says 64 "root's domains are mounted with the machine: use --at-boot" replica mount d "$MNT" --at-login
                    mount -t tmpfs none /run
                    says 14 "this machine was not booted by systemd, which would mount it at boot; nothing was changed" at_boot d "$MNT"
                    mkdir -p /run/systemd/system
                    mkdir units; mount -t tmpfs -o mode=755 none /etc/systemd
                    mkdir -p /etc/systemd/system
                    for place in /run/systemd /usr/local/lib/systemd /usr/lib/systemd /lib/systemd; do
                        [ ! -d "$place/system" ] || mount --bind units "$place/system"
                    done
                    says 14 "there is no replica@.service where systemd looks for it; the package and scripts/install bring it" at_boot d "$MNT"
                    echo >/etc/systemd/system/replica@.service
                    chmod 777 /etc/systemd/system
                    says 13 "/etc/systemd/system can be changed by other users, so no unit is written there" at_boot d "$MNT"
                    chmod 755 /etc/systemd/system
                    mkdir "$(printf 'pl\377ce')"
                    says 64 "a unit of systemd can only hold paths and options that are UTF-8" at_boot d "$(printf 'pl\377ce')"
                    long=x$(printf -- '-%.0s' $(seq 80))
                    replica add "$long" --store "file://$STORE" >/dev/null
                    says 64 "the name $long is too long for a unit of systemd" at_boot "$long" "$MNT"
                    replica remove "$long" >/dev/null
                    printf '#!/bin/sh\ncase $* in *start*) echo broken; exit 1;; esac\n' >systemctl; chmod 755 systemctl
                    mount --bind systemctl /usr/bin/systemctl
                    why="'systemctl --system status replica@d.service' says why"
                    says 32 "systemd could not mount it, so nothing was changed; $why: broken" at_boot d "$MNT"
                    echo '#!/bin/sh' >systemctl
                    says 32 "systemd could not mount it, so nothing was changed; $why: the unit ended" at_boot d "$MNT"
                    mkdir elsewhere
                    echo 'case $* in *start*) env XDG_DATA_HOME="'"$XDG_DATA_HOME"'" "'"$BIN/replica"'" mount d elsewhere ;; esac' >>systemctl
                    says 32 "systemd started another unit than the one written; nothing was changed" at_boot d "$MNT"
                    replica unmount d
                    prints "" find /etc/systemd -name "*d.service*"
                    chmod 755 data data/replica
                    says 14 "HOME is not set, so there is no place for units of this user" \
                        setpriv --reuid=54321 --clear-groups env -u HOME -u XDG_CONFIG_HOME XDG_DATA_HOME="$HERE/other" "$BIN/replica" mount x --not-at-login
                    END
                    unshare --mount --propagation private bash "$HERE/script"
                    """#)
        }
    }
}
