/// Determines what a power cut broke, only from its arguments.
struct CutJudge {
    /// What was acknowledged to a program, and what would be if its last call had been answered.
    typealias Testimony = (told: CutRecord, attempted: CutRecord)

    private let testimonies: [Testimony]
    private let outcome: CutOutcome
    private var failures: [String] = []

    /// - Returns: The faults, one per line; empty if everything is allowed.
    static func failures(_ testimonies: [Testimony], _ outcome: CutOutcome) -> [String] {
        var judge = CutJudge(testimonies: testimonies, outcome: outcome)
        judge.failures += outcome.unrest
        judge.compareSides()
        for testimony in testimonies {
            judge.judgeNames(testimony.attempted)
            judge.judgeBytes(testimony)
        }
        judge.judgeOthers()
        return judge.failures
    }

    private init(testimonies: [Testimony], outcome: CutOutcome) {
        self.testimonies = testimonies
        self.outcome = outcome
    }

    private var found: [String: FoundTree.Entry] { outcome.mounts[0].entries }

    /// All replicas show the store's state.
    private mutating func compareSides() {
        for (number, mount) in outcome.mounts.enumerated() {
            for path in Set(mount.entries.keys).union(outcome.store.entries.keys).sorted() {
                let (here, there) = (mount.entries[path], outcome.store.entries[path])
                guard here?.asTold != there?.asTold else { continue }
                failures.append("\(path): domain \(number) has \(words(here)), the store \(words(there))")
            }
        }
    }

    // MARK: Names

    private mutating func judgeNames(_ record: CutRecord) {
        var bearers: [CutRecord.Entry: [String]] = [:]
        for path in record.paths.sorted() {
            let possible = record.mayBe(path)
            guard let entry = found[path] else {
                if !possible.contains(nil) { failures.append("\(path): missing") }
                continue
            }
            let isCopied = found.keys.contains { $0.hasPrefix(path + " (conflict ") }
            let fitting = Set(possible.compactMap(\.self)).filter { fits(entry, $0, possible, record, isCopied) }
            // Another replica that lost power can't distinguish a removal in the last seconds from a loss in the store.
            let back = outcome.mounts.count > 1 ? record.removed(from: path) : record.mayBeBack(at: path)
            let isBack = back.contains { fits(entry, $0, possible, record) }
            if fitting.isEmpty, !isBack {
                let told = Set(possible).map { $0.map { describe($0, record) } ?? "nothing" }.sorted()
                failures.append("\(path): \(words(entry)), may be \(told.joined(separator: " or "))")
            }
            if fitting.count == 1, !entry.isEmpty { bearers[fitting.first!, default: []].append(path) }
        }
        for (entry, paths) in bearers where paths.count > 1 { judgeTwins(entry, paths, record) }
    }

    /// A file that had one name at a time has one. For a file with several names, a rename may be in the tree but not
    /// on the disk that records it: then both names exist.
    private mutating func judgeTwins(_ entry: CutRecord.Entry, _ paths: [String], _ record: CutRecord) {
        func wasOneOfSeveral(_ path: String) -> Bool {
            record.steps.contains { step in step[path] == entry && step.values.count(where: { $0 == entry }) > 1 }
        }
        let several = Set(paths.filter(wasOneOfSeveral))
        for (index, path) in paths.enumerated() {
            for other in paths[..<index] where !several.isSuperset(of: [path, other]) {
                failures.append("\(path) and \(other): both are what had one name at a time")
            }
        }
    }

    /// - Parameters:
    ///   - possible: Everything that may be under the name.
    ///   - isCopied: Whether there is a conflict copy: the store's content has the name then.
    private func fits(
        _ entry: FoundTree.Entry, _ told: CutRecord.Entry, _ possible: [CutRecord.Entry?], _ record: CutRecord,
        _ isCopied: Bool = false
    ) -> Bool {
        switch (entry, told) {
        case (.folder, .folder): return true
        case (.symlink(let target), .symlink(let meant)): return target == meant
        case (.file(let file), .file(let number)):
            guard let known = record.files[number] else { return false }
            // What the store has comes back with a removal that is undone, and for a save that the disk lost.
            let isRemoved = possible.last != .some(told)
            let isLost = known.confirmation == nil && !known.replaced.isEmpty
            let (contents, attributes) =
                isRemoved || isCopied || isLost ? record.former(number) : (known.contents, known.attributes)
            return Remains.isBlend(file.content, of: contents, zeros(in: known, possible, record))
                && attributes.contains { $0.mode == file.attributes.mode }
                && attributes.contains { $0.mark == file.attributes.mark }
        default: return false
        }
    }

    /// The ranges in which a file may have lost bytes: none if the store had all of them, or had the replaced content.
    private func zeros(
        in file: CutRecord.File, _ possible: [CutRecord.Entry?], _ record: CutRecord
    ) -> Remains.Zeros {
        switch file.confirmation {
        case .waited:
            // Content that was synced afterwards is no longer in doubt.
            let isSynced = !file.former.contents.isEmpty
            return outcome.isStoreCut || isSynced ? .after(shortest(file)) : .nowhere
        case .synced: return .after(shortest(file))
        case nil:
            let isOverGoodCopy = possible.contains { other in
                guard case .file(let number) = other, let known = record.files[number] else { return false }
                return known.confirmation == .waited && !known.contents[0].isEmpty
            }
            return isOverGoodCopy && !possible.contains(nil) ? .nowhere : .anywhere
        }
    }

    /// A truncated file keeps nothing after its end: later writes there are new.
    private func shortest(_ file: CutRecord.File) -> Int { file.contents.map(\.count).min() ?? 0 }

    // MARK: Bytes

    /// Content that was confirmed or reached the disk, and was not replaced or removed since, exists completely
    /// somewhere.
    private mutating func judgeBytes(_ testimony: Testimony) {
        let there = Set(testimony.told.present.values).intersection(testimony.attempted.present.values)
        for (number, file) in testimony.attempted.files.sorted(by: { $0.key < $1.key })
        where there.contains(.file(number)) {
            let names = testimony.attempted.present.filter { $0.value == .file(number) }.keys.sorted()
            if file.confirmation != nil { demand(file.contents, zeros(in: file, [], testimony.attempted), names) }
            if let first = file.syncedBelow {
                demand(Array(file.contents[first...]), .after(file.contents[first].count), names)
            }
        }
    }

    /// One of these contents, or a mixture, exists somewhere. If one is empty, there is nothing to lose.
    private mutating func demand(_ wanted: [[UInt8]], _ zeros: Remains.Zeros, _ names: [String]) {
        guard !wanted.contains([]) else { return }
        guard !contents.contains(where: { Remains.isBlend($0, of: wanted, zeros) }) else { return }
        failures.append("\(names.joined(separator: " ")): nowhere whole, \(wanted.map(text).joined(separator: " or "))")
    }

    private var contents: [[UInt8]] { Array(found.values.compactMap(\.content)) + kept }
    private var kept: [[UInt8]] { outcome.store.entries.values.compactMap(\.content) + outcome.kept }

    // MARK: Entries without an author

    private mutating func judgeOthers() {
        let known = testimonies.reduce(into: Set<String>()) { $0.formUnion($1.attempted.paths) }
        for (path, entry) in found.sorted(by: { $0.key < $1.key }) where !known.contains(path) {
            if testimonies.contains(where: { isBack(path, entry, $0.attempted) }) { continue }
            guard case .file(let file) = entry, path.contains(" (conflict ") else {
                failures.append("\(path): \(words(entry)), and nobody made it")
                continue
            }
            if found.contains(where: { $0.key != path && $0.value.hasAll(of: file.content) }) {
                failures.append("\(path): has nothing of its own")
            }
            let isOurs = testimonies.contains { testimony in
                testimony.attempted.files.values.contains {
                    Remains.isBlend(file.content, of: $0.contents, .anywhere)
                }
            }
            if !isOurs { failures.append("\(path): \(words(entry)), which nobody wrote") }
        }
    }

    /// Whether it is an entry whose removal was undone, in a folder that was renamed since.
    private func isBack(_ path: String, _ entry: FoundTree.Entry, _ record: CutRecord) -> Bool {
        record.otherPaths(of: path).contains { other in
            let possible = record.mayBe(other)
            return possible.contains(nil)
                && possible.compactMap(\.self).contains { fits(entry, $0, possible, record) }
        }
    }

    // MARK: Text

    private func words(_ entry: FoundTree.Entry?) -> String {
        switch entry {
        case .file(let file):
            let zeros = file.content.isEmpty || file.content.contains { $0 != 0 } ? "" : " of zeros"
            return "a file\(zeros), \(text(file.content)) \(text(file.attributes))"
        case .folder: return "a folder"
        case .symlink(let target): return "a link to \(target)"
        case nil: return "nothing"
        }
    }

    private func describe(_ entry: CutRecord.Entry, _ record: CutRecord) -> String {
        guard case .file(let number) = entry, let file = record.files[number] else { return "\(entry)" }
        let confirmation = file.confirmation.map { "\($0)" } ?? "not confirmed"
        let contents = file.contents.map(text).joined(separator: ", ")
        return "file \(number) (\(confirmation): \(contents); \(file.attributes.map(text).joined(separator: ", ")))"
    }

    private func text(_ content: [UInt8]) -> String {
        let hash = content.reduce(into: UInt32(5381)) { $0 = $0 &* 33 &+ UInt32($1) }
        let zeros = zeros(in: content).map { $0.upperBound < content.count ? "\($0)" : "from \($0.lowerBound) on" }
        return "\(content.count) bytes #\(hash % 10000)"
            + (zeros.isEmpty ? "" : " (zeros \(zeros.joined(separator: ", ")))")
    }

    private func zeros(in content: [UInt8]) -> [Range<Int>] {
        var (runs, start): ([Range<Int>], Int?) = ([], nil)
        for index in 0...content.count {
            if index < content.count, content[index] == 0 {
                start = start ?? index
            } else if let begin = start {
                runs.append(begin..<index)
                start = nil
            }
        }
        return runs
    }

    private func text(_ attributes: CutRecord.Attributes) -> String {
        String(attributes.mode, radix: 8) + (attributes.mark.map { " " + String(decoding: $0, as: UTF8.self) } ?? "")
    }
}

extension FoundTree.Entry {
    /// Without details that depend on the filesystem.
    fileprivate var asTold: FoundTree.Entry {
        guard case .file(var file) = self else { return self }
        file.inode = 0
        return .file(file)
    }

    fileprivate var content: [UInt8]? {
        guard case .file(let file) = self, !file.content.isEmpty else { return nil }
        return file.content
    }

    /// Whether a content has no byte that this one lacks; zeros don't count.
    fileprivate func hasAll(of content: [UInt8]) -> Bool {
        guard case .file(let file) = self else { return false }
        return content.indices.allSatisfy { index in
            content[index] == 0 || index < file.content.count && file.content[index] == content[index]
        }
    }

    /// Whether nothing distinguishes it from others of its kind.
    fileprivate var isEmpty: Bool {
        if case .file(let file) = self { file.content.allSatisfy { $0 == 0 } } else { false }
    }
}
