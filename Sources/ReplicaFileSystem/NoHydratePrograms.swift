internal import FuseMount
internal import ReplicaModel

/// The mount option `nohydrate`.
extension DomainFileSystem {
    /// Whether the caller is one of the programs that must not trigger downloads, or the engine itself, which would have to
    /// fetch what is missing.
    func isRefused(_ context: RequestContext) -> Bool {
        if ownCalls.ticket(of: context.pid) != nil { return true }
        guard !options.programsThatDoNotHydrate.isEmpty else { return false }
        return ProgramName.names(of: context.pid).contains { options.programsThatDoNotHydrate.contains($0) }
    }
}
