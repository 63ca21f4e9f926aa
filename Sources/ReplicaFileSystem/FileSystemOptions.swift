/// How a domain's mount behaves.
public struct FileSystemOptions: Sendable {
    /// Names of programs that get EDEADLK instead of a download or a listing: of a thread or its process
    /// (`/proc/PID/comm`, at most 15 bytes), or of the executable.
    public var programsThatDoNotHydrate: Set<String> = []
    /// Whether the kernel may read and write whole files itself, where it can.
    public var usesPassthrough = true

    public init() {}
}
