import Glibc

// Added to the copy that `scripts/mutate` builds, beside the files with switches.

private let turned = getenv("REPLICA_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

/// A byte for each switch, set when it is reached; written at the end where that is asked for.
nonisolated(unsafe) private let reached: UnsafeMutablePointer<UInt8>? = {
    guard getenv("REPLICA_MUTANTS_REACHED") != nil else { return nil }
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: mostSwitches)
    bytes.initialize(repeating: 0, count: mostSwitches)
    atexit {
        guard let path = getenv("REPLICA_MUTANTS_REACHED"), let bytes = reached, let file = fopen(path, "w") else {
            return
        }
        for number in 0..<mostSwitches where bytes[number] != 0 { fputs("\(number)\n", file) }
        fclose(file)
    }
    return bytes
}()

private let mostSwitches = 1 << 16

/// Whether switch `number` is turned.
@inline(never) func isMutant(_ number: Int) -> Bool {
    if let reached, number < mostSwitches { reached[number] = 1 }
    return number == turned
}

/// `value` or, where switch `number` is turned, its opposite.
@inline(never) func isTrue(_ number: Int, _ value: Bool) -> Bool { isMutant(number) != value }
