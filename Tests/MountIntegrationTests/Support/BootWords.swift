import Foundation

/// Shell functions that boot the machine's systemd in a container over the machine's root directory, which is not
/// changed. All writes are in memory; processes, cgroups, network, users and mounts are private.
let bootWords =
    "ROOT='\(repository)'\n"
        + #"""
        # The script that boots it, in namespaces of its own: SECONDS FOLDER. FOLDER/script is run in it, as root.
        prepare_boot() {
            root=$2/root
            mount -t tmpfs -o mode=755 none "$2/memory"
            mkdir "$2/memory/upper" "$2/memory/work"
            mount -t overlay -o "lowerdir=/,upperdir=$2/memory/upper,workdir=$2/memory/work" overlay "$root"
            mount -t proc proc "$root/proc"
            mount --bind "$root/proc/sys" "$root/proc/sys"
            mount -o remount,bind,ro "$root/proc/sys"
            mount -t sysfs -o ro sysfs "$root/sys"
            mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
            local place
            # Where domains and stores are is no overlay.
            for place in dev run tmp dev/shm home srv var/lib/replica; do
                mkdir -p "$root/$place"
                mount -t tmpfs -o mode=755 none "$root/$place"
                case $place in *tmp | *shm) chmod 1777 "$root/$place" ;; esac
                [ "$place" != dev ] || mkdir "$root/dev/pts" "$root/dev/shm"
            done
            for place in null zero full random urandom tty fuse autofs; do
                [ -e "/dev/$place" ] || continue
                touch "$root/dev/$place"
                mount --bind "/dev/$place" "$root/dev/$place"
            done
            chmod 666 "$root/dev/fuse" 2>/dev/null || true
            mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
            ln -s pts/ptmx "$root/dev/ptmx"
            ln -s /proc/self/fd "$root/dev/fd"
            # A build may be on another filesystem than the root directory.
            mkdir -p "$root$ROOT" "$root$BIN" "$root/boot-test"
            mount --bind "$ROOT" "$root$ROOT"
            mount --bind "$BIN" "$root$BIN"
            mount --bind "$2/shared" "$root/boot-test"
            rm -rf "$root"/etc/systemd/system/* "$root"/etc/systemd/user/* "$root/var/lib/systemd/linger" "$root/var/log/journal"
            : >"$root/etc/fstab"
            printf '%s\n' "[Unit]" "Requires=basic.target dbus.service systemd-logind.service systemd-user-sessions.service" \
                "After=basic.target dbus.service systemd-logind.service systemd-user-sessions.service" "Wants=test.service" \
                >"$root/etc/systemd/system/test.target"
            printf '%s\n' "[Unit]" "After=test.target" "[Service]" "ExecStart=/bin/bash /boot-test/start" \
                "StandardOutput=file:/boot-test/output" "StandardError=inherit" >"$root/etc/systemd/system/test.service"
            cd "$root"
            mkdir -p boot-test-old
            pivot_root . boot-test-old
            umount -l boot-test-old
            exec env -i container=replica-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
                "$(readlink -f /lib/systemd/systemd)" --system --unit=test.target --show-status=no --log-target=null
        }
        # boot: runs the script from standard input, with all these words, as root of a machine that systemd has booted.
        boot() {
            local here=$HERE/boot cgroup process code=1
            # The folder where the unified hierarchy is, and this process in it.
            cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)$(sed -n 's/^0:://p' /proc/self/cgroup)/replica-test-$$
            mkdir -p "$here/root" "$here/memory" "$here/shared"
            {
                declare -f
                echo "export BIN=$BIN ROOT=$ROOT LC_ALL=C.UTF-8"
                echo 'trap '\''echo "failed at $LINENO: $BASH_COMMAND"; code=1'\'' ERR'
                echo "set -Eeuo pipefail"
                cat
            } >"$here/shared/script"
            echo 'cd /root; code=0; bash /boot-test/script || code=$?; echo "$code" >/boot-test/code; echo done >/boot-test/ended' >"$here/shared/start"
            mkfifo "$here/shared/ended"
            export -f prepare_boot
            export ROOT
            mkdir "$cgroup" || { no_boot "no cgroup of cgroup v2 can be made at ${cgroup%/*}"; return 0; }
            unshare --mount --propagation private bash -c 'echo $$ >"$1/cgroup.procs"; shift
                exec unshare --cgroup --pid --fork --net --uts --ipc --kill-child=SIGKILL bash -ec "prepare_boot \"\$@\"" boot "$@"' \
                boot "$cgroup" 0 "$here" >"$here/log" 2>&1 8>"$here/shared/ended" &
            process=$!
            # The script's end, or that of all who have it open to write: what could not be booted.
            read -r _ <"$here/shared/ended" || true
            kill -9 "$process" 2>/dev/null || true
            wait "$process" 2>/dev/null || true
            emptied() { find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null; [ ! -e "$cgroup" ]; }
            eventually emptied
            cat "$here/shared/output" 2>/dev/null || true
            if [ ! -e "$here/shared/output" ]; then no_boot "$(tail -5 "$here/log")"; return 0; fi
            code=$(cat "$here/shared/code" 2>/dev/null || echo "1: it did not end")
            equal "$code" 0 || fail "$(tail -5 "$here/log")"
        }
        # Said where everybody sees it, and not passed over in silence.
        no_boot() { echo "NOT RUN: no systemd can be booted on this machine: $1" | tee "$HERE/no-boot" >&2; }

        """#

/// This repository's folder.
let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
