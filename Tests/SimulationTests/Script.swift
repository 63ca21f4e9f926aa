import ReplicaModel
import ReplicaTestSupport

/// The events that are still to happen at calls of the store.
struct Script {
    struct Fault {
        var method: StoreCall.Method
        var moment: FaultyStore.Moment
        var error: RemoteStoreError
        var spared: Int
        /// Whether a call of the storage behind the store fails.
        var isOfStorage = false
    }
    enum Event {
        case death
        case local(LocalStep)
        case remote(RemoteStep)
    }
    struct Alarm {
        var spared: Int
        var moment: FaultyStore.Moment
        var event: Event
    }
    var faults: [Fault] = []
    var alarms: [Alarm] = []
    /// How many more calls about an item are refused.
    var refusals: [ItemIdentifier: Int] = [:]
    /// Orders the next batches of changes; nil leaves them as they are.
    var shuffle: SeededGenerator?
    /// How many calls came in this step.
    var calls = 0

    /// The events due at a call, each only once.
    /// - Parameter isDue: Which kinds of events can happen there.
    mutating func events(at moment: FaultyStore.Moment, _ isDue: (Event) -> Bool = { _ in true }) -> [Event] {
        var due: [Event] = []
        alarms = alarms.compactMap { alarm in
            guard alarm.moment == moment, isDue(alarm.event) else { return alarm }
            var alarm = alarm
            alarm.spared -= 1
            guard alarm.spared < 0 else { return alarm }
            due.append(alarm.event)
            return nil
        }
        return due
    }

    /// Whether the store refuses a call about one item.
    mutating func refuses(_ identifier: ItemIdentifier?) -> Bool {
        guard let identifier, let left = refusals[identifier] else { return false }
        refusals[identifier] = left > 1 ? left - 1 : nil
        return true
    }

    /// The error that a call gets, if one is due.
    mutating func fault(
        of methods: Set<StoreCall.Method>, at moment: FaultyStore.Moment, isOfStorage: Bool = false
    ) -> RemoteStoreError? {
        for index in faults.indices
        where methods.contains(faults[index].method) && faults[index].moment == moment
            && faults[index].isOfStorage == isOfStorage
        {
            faults[index].spared -= 1
            guard faults[index].spared < 0 else { continue }
            return faults.remove(at: index).error
        }
        return nil
    }
}
