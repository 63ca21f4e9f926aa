/// Paths of the system that several files need.
package enum SystemPath {
    /// The program of this process.
    package static let ownProgram = "/proc/self/exe"
    /// The program that mounts and unmounts for ordinary users. By its full path: the environment could name another.
    package static let fusermount = "/usr/bin/fusermount3"
    package static let fuseDevice = "/dev/fuse"
    /// Exists where systemd runs.
    package static let systemd = "/run/systemd/system"
}
