import Foundation
import GRDB
import Glibc
import SystemPackage
import Testing

@testable import ReplicaModel

/// The messages if the database of a domain can't be used.
@Suite struct DatabaseFailureTests {
    @Test(
        arguments: [
            (13, .noSpace, "no space is left where the domain keeps its state"),
            (10 | 19 << 8, .noSpace, "no space is left where the domain keeps its state"),
            (11, .damaged, "the domain's database is damaged"), (26, .damaged, "the domain's database is damaged"),
            (5, .busy, "another program uses the domain's database"),
            (14, .inaccessible, "the domain's database can't be opened or written"),
            (8, .inaccessible, "the domain's database can't be opened or written"),
            (10 | 3 << 8, .failingDisk, "the disk with the domain's state can't be read or written"),
            (1, .other, "the domain's database can't be used"),
        ] as [(Int32, DatabaseFailure.Cause, String)])
    func eachMessageIsASentence(code: Int32, cause: DatabaseFailure.Cause, message: String) {
        let failure = DatabaseFailure(code: code, detail: "what SQLite says")
        #expect(failure.cause == cause)
        #expect(failure.message == message)
        #expect("\(failure)" == "\(message) (what SQLite says)")
        #expect(Errno(state: failure) == (cause == .noSpace ? .noSpace : .ioError))
    }

    @Test func aNewerDatabaseIsReported() throws {
        let folder = try BenchFolder()
        let path = folder.path.appending("replica.db").string
        try ReplicaDatabase(path: path).write { rows in
            try rows.execute(sql: "INSERT INTO grdb_migrations VALUES ('of tomorrow')")
        }
        let failure = #expect(throws: DatabaseFailure.self) { try ReplicaDatabase(path: path) }
        #expect(failure?.message == "the domain's database was made by a newer version of this program")
    }

    @Test func aFileThatIsNotADatabaseIsReported() throws {
        let folder = try BenchFolder()
        let path = folder.path.appending("replica.db").string
        try Data(String(repeating: "no database ", count: 1000).utf8).write(to: URL(filePath: path))
        let failure = #expect(throws: DatabaseFailure.self) { try ReplicaDatabase(path: path) }
        #expect(failure?.message == "the domain's database is damaged")
    }
}
