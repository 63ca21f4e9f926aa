import Glibc
import Testing

/// Large folders.
@Suite struct FolderTests {
    private static let count = 10_000

    @Test func aFolderOfTenThousandIsListedAndSoughtIn() async throws {
        try await withMount { mounted, checks in
            let folder = mounted.mount + "/big"
            checks.call(mkdir(folder, 0o755))
            for index in 0..<Self.count {
                if mknod(folder + "/entry-\(index)", S_IFREG | 0o600, 0) != 0 { checks.fail("mknod \(index)") }
            }
            checks.equal(Set(names(in: folder)).count, Self.count)
            seek(folder, checks)
            changeWhileReading(folder, checks)
        }
    }

    /// Each position that telldir(3) gave leads to the entry that followed it.
    private func seek(_ path: String, _ checks: Checks) {
        guard let folder = opendir(path) else { return checks.fail("opendir") }
        defer { closedir(folder) }
        var places: [(Int, String)] = []
        var index = 0
        while true {
            let place = telldir(folder)
            guard let entry = readdir(folder) else { break }
            if index % 997 == 0 { places.append((place, name(of: entry))) }
            index += 1
        }
        checks.equal(index, Self.count + 2)
        for (place, expected) in places.reversed() {
            seekdir(folder, place)
            checks.equal(readdir(folder).map(name), expected)
        }
    }

    /// What stays all the while is seen exactly once.
    private func changeWhileReading(_ path: String, _ checks: Checks) {
        guard let folder = opendir(path) else { return checks.fail("opendir") }
        defer { closedir(folder) }
        var seen: [String: Int] = [:]
        for _ in 0..<100 {
            if let entry = readdir(folder) { seen[name(of: entry), default: 0] += 1 }
        }
        for index in stride(from: 0, to: Self.count, by: 3) { unlink(path + "/entry-\(index)") }
        for index in 0..<500 { mknod(path + "/late-\(index)", S_IFREG | 0o600, 0) }
        while let entry = readdir(folder) { seen[name(of: entry), default: 0] += 1 }
        for index in 0..<Self.count where index % 3 != 0 && seen["entry-\(index)"] != 1 {
            return checks.fail("entry-\(index) was seen \(seen["entry-\(index)"] ?? 0) times")
        }
    }
}
