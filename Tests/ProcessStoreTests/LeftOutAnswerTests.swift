import PathStore
import Testing

@testable import ProcessStore

/// What a listing says that it leaves out: it comes from a program, and is shown to users.
@Suite struct LeftOutAnswerTests {
    private func page(_ fault: String) async throws -> Result<PathPage, PathStorageError> {
        var result: Result<PathPage, PathStorageError> = .failure(.cancelled)
        try await RudeStore.run { rude in
            let store = try await rude.open(fault)
            do throws(PathStorageError) {
                result = .success(try await store.list(.root, isDeep: false, from: nil))
            } catch {
                result = .failure(error)
            }
            await store.close()
        }
        return result
    }

    @Test(
        arguments: [
            ("none", 0, nil), ("left-out", 2, "a//b"), ("left-out-nothing", 0, nil),
            ("left-out-control", 1, "red [31m line "), ("left-out-huge", 1_000_000_000, nil),
        ] as [(String, Int, String?)])
    func itIsTakenAsTextForUsers(fault: String, count: Int, example: String?) async throws {
        let page = try await page(fault).get()
        #expect(page.entries.count == 1 && page.leftOut.count == count)
        if let example { #expect(page.leftOut.example == example) }
        #expect(page.leftOut.example?.utf8.count ?? 0 <= 503)
    }

    @Test(
        arguments: [
            "left-out-negative", "left-out-beyond", "left-out-text", "left-out-no-name", "left-out-fraction",
        ])
    func anInvalidOneFailsTheListing(fault: String) async throws {
        guard case .failure(.unreachable) = try await page(fault) else {
            Issue.record("the listing was taken")
            return
        }
    }
}
