import Foundation
import Glibc
import ReplicaTestSupport
import Testing

/// Feeds mutations of samples to a parser.
struct Fuzzer {
    /// Words that mean something to parsers, or are at the ends of what numbers can be.
    private static let words: [[UInt8]] =
        [
            "0", "-1", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e999",
            "NaN",
            "null", "true", "[]", "{}", "\"", "\\u0000", "\\ud800", "..", "/", "//", "%00", "%2F", "%2e%2e", "%",
            "&#0;",
            "&amp;", "<![CDATA[", "]]>", "<!DOCTYPE a [", "<!--", "\u{FEFF}", "\r\n", "\n", "W/", "\"\"", "*",
        ].map { Array($0.utf8) } + [
            [0], [0xFF], [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], [0xC0, 0x80],
        ]

    /// Bytes of an input, at most.
    private static let longest = 64 << 10
    /// The processor time that one input may take: it does not depend on what else the machine does.
    private static let mostSeconds = 10.0
    /// Bytes that a run may add to what this process has in memory.
    private static let mostMemory = 512 << 20

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private let samples: [[UInt8]]
    private var random: SeededGenerator

    /// - Parameter kind: A folder of the corpus.
    private init(_ kind: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "corpus/\(kind)")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        samples = try files.sorted { $0.path < $1.path }.map { Array(try Data(contentsOf: $0)) }
        random = SeededGenerator(UInt64(Self.number("REPLICA_FUZZ_SEED") ?? 1))
        try #require(!samples.isEmpty)
    }

    /// Calls `parse` with each sample and with mutations of them.
    /// - Parameter parse: Answers whether the bytes could be read.
    /// - Returns: How many could be, and could not be.
    @discardableResult
    static func run(
        _ kind: String, rounds: Int = 4_000, _ parse: ([UInt8]) throws -> Bool
    ) throws -> (read: Int, refused: Int) {
        var fuzzer = try Fuzzer(kind)
        for sample in fuzzer.samples { #expect(try parse(sample), "a sample of \(kind) is refused") }
        let before = resident
        var (read, refused) = (0, 0)
        for _ in 0..<(number("REPLICA_FUZZ_ROUNDS") ?? rounds) {
            let bytes = fuzzer.next()
            let begin = processorSeconds
            if try parse(bytes) { read += 1 } else { refused += 1 }
            let seconds = processorSeconds - begin
            if seconds > mostSeconds { Issue.record("\(seconds) s for \(Data(bytes).base64EncodedString())") }
        }
        #expect(resident - before < mostMemory)
        #expect(read > 0 && refused > 0, "\(kind): \(read) read, \(refused) refused")
        return (read, refused)
    }

    /// The processor time of this thread.
    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Bytes that this process has in memory.
    private static var resident: Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return words.count > 1 ? (Int(words[1]) ?? 0) * 4_096 : 0
    }

    private mutating func next() -> [UInt8] {
        var bytes = samples.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&bytes) }
        return Array(bytes.prefix(Self.longest))
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 0...24, using: &random))
        switch Int.random(in: 0..<9, using: &random) {
        case 0: if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
        case 1: if place < bytes.count { bytes[place] = .random(in: 0...255, using: &random) }
        case 2: bytes.removeSubrange(place..<end)
        case 3: bytes.insert(contentsOf: Self.words.randomElement(using: &random) ?? [], at: place)
        case 4: bytes.replaceSubrange(place..<end, with: Self.words.randomElement(using: &random) ?? [])
        case 5: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
        case 6: bytes.removeLast(bytes.count - place)
        case 7:
            let other = samples.randomElement(using: &random) ?? []
            bytes.replaceSubrange(place..., with: other[Int.random(in: 0...other.count, using: &random)...])
        default:
            // Many of the same, as a bomb has.
            let part = Array(bytes[place..<end])
            let times = Int.random(in: 1...400, using: &random)
            bytes.insert(contentsOf: repeatElement(part, count: times).joined(), at: end)
        }
    }
}
