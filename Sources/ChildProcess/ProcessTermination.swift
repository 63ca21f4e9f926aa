internal import Glibc

/// How a process is ended: by the end of its input, then by SIGTERM, then by SIGKILL, both to its whole group.
package struct ProcessTermination {
    package typealias Instant = ContinuousClock.Instant

    private enum Stage {
        case none
        /// Its input has ended.
        case leaving(Instant)
        case terminating(Instant)
        case killed
    }

    private let (farewell, termination): (Duration, Duration)
    private var stage = Stage.none

    /// - Parameters:
    ///   - farewell: Between the end of its input and SIGTERM.
    ///   - termination: Between SIGTERM and SIGKILL.
    package init(farewell: Duration, termination: Duration) {
        (self.farewell, self.termination) = (farewell, termination)
    }

    /// Whether it is being ended.
    package var hasBegun: Bool { if case .none = stage { false } else { true } }

    /// The time of the next step; nil if it is not being ended, or no step is left.
    package var deadline: Instant? {
        switch stage {
        case .leaving(let since): since + farewell
        case .terminating(let since): since + termination
        case .none, .killed: nil
        }
    }

    /// Whether the time after the end of its input is over, so that it has to be terminated.
    package func isOverdue(_ now: Instant) -> Bool {
        if case .leaving(let since) = stage { now - since >= farewell } else { false }
    }

    /// Ends its input, unless it is being ended already.
    package mutating func leave(_ child: SpawnedProcess, _ now: Instant) {
        guard case .none = stage else { return }
        shutdown(child.conversation.raw, Int32(SHUT_WR))
        stage = .leaving(now)
    }

    /// Sends SIGTERM, unless that was done.
    package mutating func terminate(_ child: SpawnedProcess, _ now: Instant) {
        switch stage {
        case .none, .leaving:
            stage = .terminating(now)
            kill(-child.identifier, SIGTERM)
        case .terminating, .killed: break
        }
    }

    /// Sends SIGKILL when the time after SIGTERM is over.
    package mutating func killIfOverdue(_ child: SpawnedProcess, _ now: Instant) {
        guard case .terminating(let since) = stage, now - since >= termination else { return }
        stage = .killed
        kill(-child.identifier, SIGKILL)
    }
}
