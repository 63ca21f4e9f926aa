/// The same numbers for the same seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Mixed first: otherwise consecutive seeds would give the same sequence, shifted by one.
    package init(_ seed: UInt64) { state = Self.mix(seed) }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    private static func mix(_ state: UInt64) -> UInt64 {
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
