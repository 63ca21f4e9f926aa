internal import CFuse
package import SystemPackage

/// Opens mountpoints. Whoever may rename in a folder above can't put something else in the place of what is open.
package enum HeldMountpoint {
    /// What is at a path now.
    /// - Returns: An `O_PATH` descriptor.
    /// - Throws: ELOOP for a symlink on the way, which could lead anywhere by now.
    package static func open(_ path: String) throws(Errno) -> Int32 { try checked(cfuse_place_open(path)) }

    /// The same; mounts there whose daemon is dead are unmounted first.
    static func openLiving(_ path: String) throws(Errno) -> Int32 { try checked(cfuse_place_open_living(path)) }

    private static func checked(_ result: Int32) throws(Errno) -> Int32 {
        guard result >= 0 else { throw Errno(rawValue: -result) }
        return result
    }
}
