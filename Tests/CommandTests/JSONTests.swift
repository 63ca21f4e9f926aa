import Foundation
import ReplicaControl
import ReplicaModel
import SystemPackage
import Testing

@testable import replica

/// docs/JSON.md describes the output of `--json` completely, field by field.
@Suite struct JSONTests {
    /// A row of a table: a field's type, and the code words in its description.
    private struct Field: Equatable {
        var type: String
        var values: Set<String>
    }

    private static let page: [String] = {
        let docs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/JSON.md")
        let text = try? String(contentsOf: docs, encoding: .utf8)
        return (text ?? "").components(separatedBy: "\n")
    }()

    /// The page's sections, except the one about the commands.
    private static let sections: [String: [String: Field]] = {
        var (found, current) = ([String: [String: Field]](), "")
        for line in page {
            if line.hasPrefix("## ") { current = String(line.dropFirst(3)) }
            guard current != "Commands", let row = line.firstMatch(of: #/^\| `(\w+)` \| (\w+) \| (.*) ?\|$/#) else {
                continue
            }
            let values = Set(row.3.matches(of: #/`(\w+)`/#).map { String($0.1) })
            found[current, default: [:]][String(row.1)] = Field(type: String(row.2), values: values)
        }
        return found
    }()

    private static let path = ControlPath(bytes: Array("a/b".utf8))
    private static let place = ControlFilePath("/a/b")
    private static let date = Date(timeIntervalSince1970: 1)

    /// A sample of each object with every field.
    private static let samples: [String: any Encodable & Sendable] = {
        let held = HeldMount(path: place, processes: [1])
        var progress = TransferProgress(
            itemsDone: 1, itemsTotal: 2, bytesDone: 3, bytesTotal: 4, bytesPerSecond: 5, itemsPerSecond: 6,
            secondsLeft: 7, counting: true)
        progress.reason = "offline"
        var domain = DomainStatus(name: "d", store: "file:///s", directory: place, state: .idle)
        (domain.mountpoint, domain.heldMount, domain.pid, domain.reason) = (place, held, 1, "x")
        (domain.version, domain.deadMount) = ("0.1", place)
        (domain.nextTry, domain.pending, domain.errors, domain.conflicts) = (date, 1, 2, 3)
        (domain.items, domain.bytes, domain.materializedBytes, domain.localOnly) = (1, 2, 3, 4)
        (domain.kept, domain.progress) = (5, progress)
        let version = ItemStatusVersion(content: "a", metadata: "b")
        let error = ItemStatusError(code: "c", message: "m", attempts: 1, nextTry: date)
        var item = ItemStatus(path: path, id: "i", number: 1, kind: .file, state: .partial, size: 1)
        (item.pending, item.version, item.error) = (["contents"], version, error)
        let refused = EvictionRefusal(path: path, code: "c", message: "m")
        return [
            "domain": domain, "heldMount": held, "progress": progress, "item": item, "version": version, "error": error,
            "left": DepartureStatus(path: path, id: "i", number: 1),
            "conflict": ConflictStatus(path: path, copy: path, date: date, detail: "d"),
            "evicted": EvictionResult(items: 1, bytes: 2, refused: [refused]), "refused": refused,
            "removed": RemovalResult(preserved: place, files: 1), "restored": RestorationResult(items: 1, left: 2),
            "change": ChangeEvent(date: date, kind: "state", path: path, detail: "d"),
            "daemon": DaemonStatus(name: "d", pid: 1, mountpoint: place),
            "finding": Finding(check: .clock, domain: "d", severity: .fine, message: "m", command: "c"),
            "line": replica.Log.Entry(line: "l"), "probe": ProbeFinding("t", .kept, "f"),
            "kind": replica.Stores.Kind(url: "x://", program: "/p"),
        ]
    }()

    @Test func everyObjectIsDocumented() { #expect(Set(Self.samples.keys) == Set(Self.sections.keys)) }

    @Test(arguments: samples.keys.sorted()) func everyFieldIsDocumented(name: String) throws {
        let (sample, rows) = (try #require(Self.samples[name]), try #require(Self.sections[name]))
        // Includes fields that this sample lacks.
        let fields = Mirror(reflecting: sample).children.compactMap(\.label)
        #expect(Set(fields) == Set(rows.keys))
        let line = String(decoding: try ControlCodec.encode(sample), as: UTF8.self)
        let printed = try JSONDecoder().decode([String: Printed].self, from: Data(line.utf8))
        #expect(printed.mapValues(\.kind) == rows.mapValues { ["path", "date"].contains($0.type) ? "text" : $0.type })
        for (field, row) in rows where row.type == "date" {
            #expect(line.contains(#""\#(field)":"1970-01-01T00:00:01Z""#))
        }
    }

    @Test func everyValueIsDocumented() {
        let fields = Self.sections
        func check<Value: CaseIterable & RawRepresentable<String>>(
            _ values: Value.Type, _ object: String, _ field: String
        ) {
            #expect(fields[object]?[field]?.values == Set(values.allCases.map(\.rawValue)), "\(object) \(field)")
        }
        check(DomainState.self, "domain", "state")
        check(ItemStatusKind.self, "item", "kind")
        check(MaterializationState.self, "item", "state")
        check(DomainEvent.Kind.self, "change", "kind")
        check(Finding.Check.self, "finding", "check")
        check(Finding.Severity.self, "finding", "severity")
    }

    /// By its option and by its row.
    @Test func everyCommandIsDocumented() async throws {
        let script = try await run(Programs.replica, "--experimental-dump-help")
        let dump = try JSONDecoder().decode(HelpDump.self, from: Data(script.output.utf8))
        let printing = (dump.command.subcommands ?? []).filter { command in
            (command.arguments ?? []).contains { $0.valueName == "json" }
        }
        let rows = Self.page.drop { $0 != "## Commands" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let listed = rows.filter { $0.hasPrefix("| `") }.flatMap { row in
            row.split(separator: "|")[0].matches(of: #/`([\w-]+)`/#).map { String($0.1) }
        }
        #expect(listed.count == Set(listed).count && Set(listed) == Set(printing.map(\.commandName)), "\(listed)")
    }

    /// The real output of a program.
    @Test func aListIsDecodedAsDomains() async throws {
        let domain = try FakeDomain()
        let said = try await Programs.replica("list", "--json", in: domain.folder)
        let printed = try JSONDecoder().decode([String: Printed].self, from: Data(said.output.utf8))
        #expect(Set(printed.keys) == ["name", "store", "directory", "state"], "\(said)")
    }
}

/// The kind of a JSON value.
private struct Printed: Decodable {
    var kind: String

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if (try? value.decode(Bool.self)) != nil {
            kind = "boolean"
        } else if (try? value.decode(Double.self)) != nil {
            kind = "number"
        } else if (try? value.decode(String.self)) != nil {
            kind = "text"
        } else {
            kind = (try? decoder.unkeyedContainer()) != nil ? "list" : "object"
        }
    }
}
