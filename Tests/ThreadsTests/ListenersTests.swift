import Testing
import Threads

/// A listener gets the elements sent since it subscribed, and streams can end.
@Suite struct ListenersTests {
    @Test func allListenersAreNotified() async {
        let listeners = Listeners<Int>(keeping: .unbounded)
        listeners.yield(1)
        let (one, two) = (listeners.stream(), listeners.stream())
        for number in 2...3 { listeners.yield(number) }
        listeners.finish()
        #expect(await one.reduce(into: []) { $0.append($1) } == [2, 3])
        #expect(await two.reduce(into: []) { $0.append($1) } == [2, 3])
    }

    @Test func manySignalsAreOne() async {
        let listeners = Listeners<Void>()
        let stream = listeners.stream()
        for _ in 0..<3 { listeners.signal() }
        listeners.finish()
        #expect(await stream.reduce(0) { count, _ in count + 1 } == 1)
    }

    /// A stream that begins after the end is at its end.
    @Test func aStreamThatBeginsAfterTheEndIsFinished() async {
        let listeners = Listeners<Void>()
        listeners.finish()
        #expect(await listeners.stream().first { _ in true } == nil)
        #expect(!listeners.isHeard)
    }

    @Test func aCancelledListenerGetsNothingMore() async {
        let listeners = Listeners<Int>(keeping: .unbounded)
        var stream: AsyncStream<Int>? = listeners.stream()
        #expect(listeners.isHeard)
        let task = Task { [stream] in for await _ in stream! {} }
        stream = nil
        task.cancel()
        await task.value
        #expect(!listeners.isHeard)
    }
}
