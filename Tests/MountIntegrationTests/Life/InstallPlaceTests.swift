import Foundation
import Testing

/// Where `scripts/install` puts programs that root runs, and where it refuses to.
@Suite struct InstallPlaceTests {
    private static let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// Shell functions: `apart` runs the script from standard input where the machine's /sbin and /srv are covered.
    private static let words = #"""
        have_user
        chmod 755 "$HERE"
        apart() {
            { declare -f; cat; } >script
            unshare -m --propagation private bash -c '
                set -Eeuo pipefail; trap "echo failed at \$LINENO: \$BASH_COMMAND >&2" ERR
                leave_others
                mkdir over; mount -t tmpfs -o mode=755 none over; mkdir over/upper over/work
                sbin=$(readlink -f /sbin)
                mount -t overlay -o "lowerdir=$sbin,upperdir=over/upper,workdir=over/work" none "$sbin"
                rm -f /sbin/mount.replica /sbin/mount.fuse.replica
                mount -t tmpfs -o mode=755 none /srv
                mount -t tmpfs -o mode=755 none /etc/fish
                mkdir /etc/fish/completions
                . "$HERE/script"'
        }

        """#

    /// Root would read and write through whatever others put there.
    @Test func rootChangesNothingInFoldersOfOthers() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    apart <<'END'
                    listing() { find /srv -printf '%p %y %m %u %g %T@ %l\n' | sort; }
                    install() { "\#(Self.source)/scripts/install" --from "$BIN" --prefix "$@" >said 2>errors; }
                    # refused PREFIX PLACE: neither installs nor uninstalls, and names the place.
                    refused() {
                        local more
                        listing >before
                        for more in "" --uninstall; do
                            not install "$1" $more || fail "installed: $(cat said)"
                            equal "$(wc -l <errors)" 1 || fail "$(cat errors)"
                            has errors "$2" || fail "$(cat errors)"
                            has errors "can be changed by others than root"
                            has errors "nothing was changed"
                            listing | diff before -
                            not test -L /sbin/mount.replica
                        done
                    }
                    mkdir /srv/home; chown replicatest /srv/home
                    refused /srv/home/replica "/srv/home (replicatest, mode 755)"
                    # What root made in it, they can still replace.
                    mkdir -p /srv/home/made/sbin
                    refused /srv/home/made "/srv/home (replicatest, mode 755)"
                    mkdir -m 2775 /srv/group
                    refused /srv/group "/srv/group (root, mode 2775)"
                    # One folder of many, with a list that is another file: only root may read that one.
                    mkdir -p /srv/list/share/replica; echo secret >/srv/secret; chmod 600 /srv/secret
                    ln -s /srv/secret /srv/list/share/replica/folders; chown replicatest /srv/list/share/replica
                    refused /srv/list "/srv/list/share/replica (replicatest, mode 755)"
                    mkdir /srv/linked /srv/elsewhere; ln -s /srv/elsewhere /srv/linked/bin; chown -h replicatest /srv/linked/bin
                    refused /srv/linked "the link /srv/linked/bin (replicatest)"
                    # By a link of root's to where others can change what is there.
                    ln -s home/../home /srv/way
                    refused /srv/way/mine "/srv/home (replicatest, mode 755)"
                    mkdir -m 1777 /srv/everyones; ln -s /srv/elsewhere /srv/everyones/link
                    refused /srv/everyones/link "the link /srv/everyones/link (root)"
                    finds_no -r --exclude=secret secret /srv

                    # What root made is root's, in a folder for everybody too, and by root's links.
                    mkdir /srv/everyones/roots; ln -s /srv/everyones/roots /srv/short
                    install /srv/short/mine
                    test -x /srv/everyones/roots/mine/bin/replica
                    equal "$(readlink /sbin/mount.replica)" /srv/short/mine/sbin/mount.replica
                    install /srv/short/mine --uninstall
                    prints "" ls -A /srv/everyones/roots
                    not test -L /sbin/mount.replica
                    # Not what is in the user's home either, by root.
                    listing >before
                    not env HOME=/srv/home "\#(Self.source)/scripts/install" --from "$BIN" --user 2>errors
                    has errors "/srv/home (replicatest, mode 755)"
                    listing | diff before -
                    END
                    """#)
        }
    }

    /// By an administrator's sudo, too.
    @Test func rootsMountRunsNoProgramThatOthersCanReplace() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    apart <<'END'
                    mkdir source bin sudo /srv/theirs /srv/others; chown replicatest /srv/theirs; chown daemon /srv/others
                    mount --bind "\#(Self.source)" source; mount --bind "$BIN" bin
                    # Root is asked for nothing.
                    printf '#!/bin/sh\necho "$@" >>"%s"\n' "$HERE/asked" >sudo/sudo
                    chmod 755 sudo/sudo; touch asked; chmod 666 asked
                    install() {
                        setpriv --reuid=replicatest --regid="$(id -g replicatest)" --clear-groups \
                            env TMPDIR=/tmp HOME=/srv/theirs PATH="$HERE/sudo:$PATH" source/scripts/install --from bin --prefix "$@" >said 2>errors
                    }
                    install /srv/theirs/mine || fail "$(cat errors)"
                    test -x /srv/theirs/mine/bin/replica; not test -e /srv/theirs/mine/libexec/replica-passthrough
                    has said "not linked for mount(8)"
                    has said "/srv/theirs (replicatest, mode 755) can be changed by others than root: replica-passthrough is not installed"
                    lacks said "ln -s"
                    prints "" cat asked
                    # A link from before is told of.
                    ln -s /srv/theirs/mine/sbin/mount.replica /sbin/mount.replica
                    install /srv/theirs/mine
                    has said "WARNING: /sbin/mount.replica leads to"
                    prints "" cat asked
                    not install /srv/others/mine
                    has errors "/srv/others (daemon, mode 755) can be changed by others than root"
                    prints "" cat asked
                    END
                    """#)
        }
    }

    /// A filesystem without capabilities: more rights than were meant are told of.
    @Test func aSetUserIDProgramIsReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    apart <<'END'
                    mount -t ramfs none /srv; chmod 755 /srv
                    "\#(Self.source)/scripts/install" --from "$BIN" --prefix /srv/mine >said
                    program=/srv/mine/libexec/replica-passthrough
                    equal "$(stat -c '%U %a' $program)" 'root 4755'
                    has said "WARNING: no capability could be set on $program: it is set-user-ID root instead"
                    chmod 755 $program
                    mount --bind /srv/mine/libexec /usr/libexec
                    [ ! -d /run/systemd ] || mount -t tmpfs none /run/systemd
                    sh "\#(Self.source)/packaging/postinst" configure 2>said
                    equal "$(stat -c '%U %a' $program)" 'root 4755'
                    has said "WARNING: no capability could be set on /usr/libexec/replica-passthrough: it is set-user-ID root instead"
                    END
                    """#)
        }
    }
}
