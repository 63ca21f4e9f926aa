import Testing

@testable import ReplicaFileSystem

/// Which files the kernel reads and writes directly.
@Suite struct PassthroughChoiceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var size: Int64 = 0
        var isWriter = false
        var isWhole = true
        var hasSetID = false
        var byProgram = true
        var registers: Bool
    }

    private static let least = PassthroughChoice.leastForReading
    private static let rows = [
        Row(testDescription: "read, empty", registers: false),
        Row(testDescription: "read, a byte less", size: least - 1, registers: false),
        Row(testDescription: "read, just enough", size: least, registers: true),
        Row(testDescription: "read, huge", size: .max, registers: true),
        Row(testDescription: "written, empty or new", isWriter: true, registers: true),
        Row(testDescription: "written, small", size: 1, isWriter: true, registers: true),
        Row(testDescription: "written, large", size: least, isWriter: true, registers: true),
        Row(testDescription: "read, empty, by one's own right", byProgram: false, registers: true),
        Row(testDescription: "written, empty, by one's own right", isWriter: true, byProgram: false, registers: true),
        Row(testDescription: "not all here", size: least, isWhole: false, registers: false),
        Row(testDescription: "not all here, by one's own right", isWhole: false, byProgram: false, registers: false),
        Row(testDescription: "set-ID", size: least, isWriter: true, hasSetID: true, registers: false),
        Row(testDescription: "set-ID, by one's own right", hasSetID: true, byProgram: false, registers: false),
    ]

    @Test(arguments: rows) func onlySuitableFilesAreRegistered(_ row: Row) {
        let registers = PassthroughChoice.registers(
            size: row.size, isWriter: row.isWriter, isWhole: row.isWhole, hasSetID: row.hasSetID,
            byProgram: row.byProgram)
        #expect(registers == row.registers)
    }
}
