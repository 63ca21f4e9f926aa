import ChildProcess
import Logging

/// Passes a store's standard error to the log: limits the length and the number of lines, and removes control
/// characters.
struct StandardErrorLog {
    private let log: Logger
    private let limits: ProcessLimits
    private var line: [UInt8] = []
    private var isCut = false
    private var count = 0
    private var leftOut = 0
    private var begin: ContinuousClock.Instant?

    init(_ log: Logger, _ limits: ProcessLimits) {
        self.log = log
        self.limits = limits
    }

    mutating func take(_ fresh: UnsafeRawBufferPointer, now: ContinuousClock.Instant) {
        for byte in fresh {
            if byte == UInt8(ascii: "\n") {
                end(now)
            } else if line.count < limits.errorLineLength {
                line.append(byte)
            } else {
                isCut = true
            }
        }
    }

    /// The output has ended.
    mutating func finish(now: ContinuousClock.Instant) {
        if !line.isEmpty { end(now) }
        tellLeftOut()
    }

    private mutating func end(_ now: ContinuousClock.Instant) {
        defer {
            line.removeAll(keepingCapacity: true)
            isCut = false
        }
        if begin.map({ now - $0 >= .seconds(10) }) ?? true {
            tellLeftOut()
            begin = now
            count = 0
        }
        guard count < limits.errorLines else {
            leftOut += 1
            return
        }
        count += 1
        log.warning("store: \(SanitizedText.of(line) + (isCut ? "…" : ""))")
    }

    private mutating func tellLeftOut() {
        if leftOut > 0 { log.warning("store: \(leftOut) more lines were omitted") }
        leftOut = 0
    }
}
