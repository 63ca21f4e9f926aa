internal import HeapModule

/// The order in which pending items are checked. Each is in one place at a time, so draining is linear.
struct UploadQueue {
    private struct Alarm: Comparable {
        var time: Double
        var number: ItemNumber

        static func < (left: Alarm, right: Alarm) -> Bool { left.time < right.time }
    }
    private var queue: [ItemNumber] = []
    private var next = 0
    private var queued: Set<ItemNumber> = []
    private var waiting: [ItemNumber: [ItemNumber]] = [:]
    private var alarms = Heap<Alarm>()
    var inFlight = 0
    /// Items that can't be sent before something is fetched, with the missing files and folders.
    var fetchesFirst: [(item: ItemNumber, absent: [ItemNumber])] = []
    /// The number of tasks that make calls.
    var workers = 0
    /// The number of tasks that are choosing calls: items that they took from the queue do not count as in flight yet.
    private var choosers = 0
    /// Whether anything happened since the queue was last empty.
    private var hasMoved = false
    /// The time when a call last ended, or a task began to make calls.
    private var movedAt = 0.0

    /// The time when the next item may be checked again, in seconds since 1970.
    var nextAlarm: Double? { alarms.min?.time }

    mutating func add(_ numbers: some Sequence<ItemNumber>) {
        for number in numbers where queued.insert(number).inserted { queue.append(number) }
    }

    mutating func addDue(at now: Double) {
        while let alarm = alarms.min, alarm.time <= now {
            alarms.removeMin()
            add(CollectionOfOne(alarm.number))
            if alarms.isEmpty { alarms = Heap() }
        }
    }

    /// Whether another task may make calls, because there are many, or those in flight take long.
    mutating func takeWorker(_ limit: Int, now: Double = 0) -> Bool {
        let hasWork = next < queue.count || (inFlight == 0 && workers == 0 && !waiting.isEmpty)
        let isUrgent = queue.count - next > workers * 4 || now - movedAt >= Self.soloSeconds
        guard workers < limit, hasWork, isUrgent || workers == 0 else { return false }
        workers += 1
        movedAt = now
        return true
    }

    /// The duration of a call, in seconds, after which more are made in parallel.
    private static let soloSeconds = 0.1

    /// The time when the queue has to be checked again without a change, in seconds since 1970.
    func nextTry(_ limit: Int) -> Double? {
        guard next < queue.count, workers < limit else { return nextAlarm }
        return min(nextAlarm ?? .infinity, movedAt + Self.soloSeconds)
    }

    private static let many = 4096

    mutating func pop() -> ItemNumber? {
        guard next < queue.count else {
            // Frees the memory of a long queue.
            if queue.count > Self.many { (queue, queued) = ([], []) }
            queue.removeAll(keepingCapacity: true)
            next = 0
            return nil
        }
        defer { next += 1 }
        queued.remove(queue[next])
        return queue[next]
    }

    mutating func wait(_ number: ItemNumber, for blocker: ItemNumber) { waiting[blocker, default: []].append(number) }
    mutating func wait(_ number: ItemNumber, until time: Double) { alarms.insert(Alarm(time: time, number: number)) }

    /// A call for the item ended: items that waited for it are checked again.
    mutating func ended(_ number: ItemNumber, now: Double = 0) {
        movedAt = now
        hasMoved = true
        if let waiters = waiting.removeValue(forKey: number) { add(waiters) }
        add(CollectionOfOne(number))
    }

    /// A task begins to choose calls, until ``endChoosing(_:)``.
    mutating func beginChoosing() { choosers += 1 }

    /// A task has begun this many calls.
    mutating func endChoosing(_ calls: Int) {
        choosers -= 1
        inFlight += calls
    }

    /// Nothing is in flight and nothing can be: queues all waiting items once more, or returns the items that block
    /// others.
    mutating func resolveDeadlock() -> [ItemNumber] {
        guard inFlight == 0, choosers < 2, !waiting.isEmpty else { return [] }
        let blockers = waiting
        waiting.removeAll()
        for blocker in blockers.keys.sorted() { add(blockers[blocker] ?? []) }
        defer { hasMoved = false }
        return hasMoved ? [] : blockers.keys.sorted()
    }
}
