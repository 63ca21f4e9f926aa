internal import HeapModule

/// Which pending items are looked at next. Each is in one place at a time, so draining is linear.
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
    /// Items that can't be sent before something is fetched, with what that is.
    var fetchesFirst: [(item: ItemNumber, absent: [ItemNumber])] = []
    /// How many tasks make calls.
    var workers = 0
    /// How many of them are choosing calls: items that they took from the queue are not counted as in flight yet.
    private var choosers = 0
    /// Whether anything happened since the queue last ran empty.
    private var hasMoved = false
    /// When a call last ended, or a task began to make calls.
    private var movedAt = 0.0

    /// When the next item may be looked at again, in seconds since 1970.
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

    /// Whether one more task may make calls, and has calls to make: there are many, or those under way take long.
    mutating func takeWorker(_ limit: Int, now: Double = 0) -> Bool {
        let hasWork = next < queue.count || (inFlight == 0 && workers == 0 && !waiting.isEmpty)
        let isUrgent = queue.count - next > workers * 4 || now - movedAt >= Self.soloSeconds
        guard workers < limit, hasWork, isUrgent || workers == 0 else { return false }
        workers += 1
        movedAt = now
        return true
    }

    /// Seconds that a call may take before more are made in parallel.
    private static let soloSeconds = 0.1

    /// When the queue has to be checked again without news, in seconds since 1970.
    func nextLook(_ limit: Int) -> Double? {
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

    /// A task begins to choose calls. It ends by ``endChoosing(_:)``.
    mutating func beginChoosing() { choosers += 1 }

    /// A task has begun so many calls.
    mutating func endChoosing(_ calls: Int) {
        choosers -= 1
        inFlight += calls
    }

    /// Nothing is in flight and nothing can be: queues all waiting items once more, or names those that others wait for.
    mutating func runDry() -> [ItemNumber] {
        guard inFlight == 0, choosers < 2, !waiting.isEmpty else { return [] }
        let blockers = waiting
        waiting.removeAll()
        for blocker in blockers.keys.sorted() { add(blockers[blocker] ?? []) }
        defer { hasMoved = false }
        return hasMoved ? [] : blockers.keys.sorted()
    }
}
