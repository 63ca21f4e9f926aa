import ReplicaTestSupport

/// Choices of a simulated world, which only its seed decides.
extension SeededGenerator {
    /// Recorded faults name their worlds by these seeds.
    init(seed: UInt64) { self.init(seed &* 0xD6E8_FEB8_6659_FD93 &+ 0x2545_F491_4F6C_DD1D) }

    /// 0 to `count - 1`.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    mutating func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }
}
