/// How a domain's mount behaves.
package struct FileSystemOptions: Sendable {
    /// Names of programs that get EDEADLK instead of a download or a listing: of a thread or its process
    /// (`/proc/PID/comm`, at most 15 bytes), or of the executable.
    package var programsThatDoNotHydrate: Set<String> = []
    /// Whether the kernel may read and write whole files itself, where it can.
    package var usesPassthrough = true

    package init() {}
}
