/// How a domain's mount behaves.
package struct FileSystemOptions: Sendable {
    /// Programs that get EDEADLK instead of triggering a download or a listing, by the name of a thread or its process
    /// (`/proc/PID/comm`, at most 15 bytes), or of the executable.
    package var programsThatDoNotHydrate: Set<String> = []
    /// Whether the kernel may read and write complete files directly, if it can.
    package var usesPassthrough = true
    /// When reads change access times; nil: by the rule of the filesystem below.
    package var accessTimes: AccessTimes?

    package init() {}
}
