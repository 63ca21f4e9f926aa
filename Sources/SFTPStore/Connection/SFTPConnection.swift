import CLinux
import ChildProcess
import Glibc
import SystemPackage
import Threads

/// One run of `ssh HOST -s sftp`, as seen by its callers. A separate thread does the work (``SSHProcess``). Safe
/// from any thread.
final class SFTPConnection: Sendable {
    struct State {
        /// Packets to write.
        var outgoing: [[UInt8]] = []
        var pending: [UInt32: PendingReply] = [:]
        var count: UInt32 = 0
        /// Why it accepts no more requests.
        var ended: SFTPFailure?
        var isToLeave = false
        /// 0 before it is started.
        var process: Int32 = 0
    }

    let address: SFTPAddress
    let limits: ConnectionLimits
    let begin = ContinuousClock.now
    let state = Locked(State())
    let wakeUp: OwnedDescriptor
    /// The server's greeting, when it has arrived.
    let hello = Promise<Result<SFTPHello, SFTPFailure>>()
    /// All processes of ssh have ended.
    let isGone = Promise<Void>()

    /// Starts ssh asynchronously, on a thread that lives as long as ssh.
    /// - Throws: If this process has no free descriptor, or there is no ssh.
    init(_ address: SFTPAddress, _ command: SSHCommand, _ limits: ConnectionLimits) throws(SFTPFailure) {
        (self.address, self.limits) = (address, limits)
        let call = try command.call(address)
        do throws(Errno) {
            wakeUp = try OwnedDescriptor(checking: cl_eventfd(0, CL_EFD_CLOEXEC | CL_EFD_NONBLOCK))
        } catch {
            throw .unreachable("the connection can't be opened: \(error)")
        }
        state.withLock { $0.outgoing = [SFTPRequest.hello] }
        let isStarted = Thread.run { [self] in
            var process = SSHProcess(self)
            end(process.run(call))
            isGone.fulfil(())
        }
        if !isStarted { throw .unreachable("the connection can't be opened: no thread could be created") }
    }

    /// The process ID of ssh while it is running.
    var process: Int32 { state.withLock { $0.process } }

    /// Whether it accepts requests.
    var isOpen: Bool { state.withLock { $0.ended == nil && !$0.isToLeave } }

    /// Sends a request.
    /// - Parameter over: Called once when it is answered, or will never be answered.
    func send(_ request: SFTPRequest, over: @escaping @Sendable () -> Void = {}) -> PendingReply {
        let reply = PendingReply(self, over: over)
        let failure = state.withLock { state -> SFTPFailure? in
            if let failure = state.ended { return failure }
            if state.isToLeave { return .unreachable("\(address): the connection is closed") }
            repeat { state.count &+= 1 } while state.pending[state.count] != nil
            state.pending[state.count] = reply
            state.outgoing.append(request.packet(state.count))
            return nil
        }
        if let failure { reply.finish(.failure(.lost(failure))) } else { wake() }
        return reply
    }

    /// Closes a handle without waiting for the answer.
    func close(_ handle: [UInt8]) { _ = send(.close(handle)) }

    /// Handles an answer.
    /// - Returns: Whether there was a request for it.
    func take(_ number: UInt32, _ reply: SFTPReply) -> Bool {
        guard let pending = state.withLock({ $0.pending.removeValue(forKey: number) }) else { return false }
        pending.finish(.success(reply))
        return true
    }

    /// Ends it: everything further it sends is ignored.
    func fail(_ failure: SFTPFailure) {
        end(failure)
        wake()
    }

    /// Accepts no more requests; those in flight get no answer.
    func end(_ failure: SFTPFailure) {
        let (pending, first) = state.withLock { state in
            state.ended = state.ended ?? failure
            defer { (state.pending, state.outgoing) = ([:], []) }
            return (state.pending.values.map { $0 }, state.ended ?? failure)
        }
        for reply in pending { reply.finish(.failure(.lost(first))) }
        hello.fulfil(.failure(first))
    }

    /// Closes the connection: ssh gets the end of its input, and is killed if it does not end.
    func letGo() {
        state.withLock { $0.isToLeave = true }
        wake()
    }

    /// Closes the connection, and returns when all its processes have ended.
    func leave() async {
        letGo()
        _ = await isGone.value()
    }

    private func wake() {
        var one: UInt64 = 1
        write(wakeUp.raw, &one, 8)
    }
}
