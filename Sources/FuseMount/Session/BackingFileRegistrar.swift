internal import CFuse
internal import SystemPackage

/// The program that registers backing files for an unprivileged daemon.
struct BackingFileRegistrar {
    private enum Phase {
        /// Not started: it was not needed yet.
        case new
        case running(cfuse_registrar)
        /// The program does not exist, or has ended.
        case ended
    }

    private var phase = Phase.new

    /// Starts the program at the first call.
    /// - Returns: The ID or a negated errno; -ENOTCONN if there is no such program, now and later.
    mutating func register(_ descriptor: Int32, _ session: OpaquePointer, _ program: String?) -> Int32 {
        if case .new = phase { phase = Self.start(program, session) }
        guard case .running(var registrar) = phase else { return -Errno.socketNotConnected.rawValue }
        let result = cfuse_registrar_open(&registrar, descriptor)
        if result == -Errno.socketNotConnected.rawValue { end() }
        return result
    }

    mutating func unregister(_ id: Int32) {
        guard case .running(var registrar) = phase else { return }
        if !cfuse_registrar_close(&registrar, id) { end() }
    }

    mutating func end() {
        if case .running(var registrar) = phase { cfuse_registrar_end(&registrar) }
        phase = .ended
    }

    private static func start(_ program: String?, _ session: OpaquePointer) -> Phase {
        var registrar = cfuse_registrar()
        guard let program, cfuse_registrar_start(&registrar, program, session) == 0 else { return .ended }
        return .running(registrar)
    }
}
