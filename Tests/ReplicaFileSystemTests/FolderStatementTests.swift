import CLinux
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing

/// Statements of CONFORMANCE.md about mkdir(2), through a mount.
@Suite struct FolderStatementTests {
    @Test func statement45_aUsersMkdirIsOneFolderCreate() async throws {
        let store = MemoryStore()
        try await withDomain(store) { mounted, checks in
            checks.expect(blockUntil { names(in: mounted.mount).isEmpty }, "the root is listed")
            store.clearCalls()
            checks.call(mkdir(mounted.mount + "/made", 0o755))
            checks.expect(blockUntil { (try? mounted.domain.report().pending) == 0 }, "in step")
            checks.equal(store.calls(of: .createItem).map(\.template?.kind), [.folder])
            checks.equal(store.calls(of: .createItem).map(\.template?.filename), [FileName("made")])
            checks.expect(store.calls(of: .modifyItem).isEmpty && store.calls(of: .deleteItem).isEmpty, "one call")
        }
    }

    /// As statx(2) tells a program.
    @Test func statement52_theCreationDateIsNow() async throws {
        try await withDomain(MemoryStore()) { mounted, checks in
            let path = mounted.mount + "/made"
            // The kernel's clock for files is a tick behind the other.
            let before = seconds(of: CLOCK_REALTIME_COARSE)
            checks.call(mkdir(path, 0o755))
            let after = seconds(of: CLOCK_REALTIME)
            // What changes later is no birth.
            checks.call(
                utimensat(AT_FDCWD, path, [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)], 0))
            checks.call(chmod(path, 0o700))
            var status = cl_statx()
            checks.call(cl_statx_of(AT_FDCWD, path, 0, UInt32(CL_STATX_ALL), &status))
            checks.expect(status.mask & UInt32(CL_STATX_BTIME) != 0, "the kernel asked for the birth")
            let born = Double(status.btime.seconds) + Double(status.btime.nanoseconds) / 1e9
            checks.expect(before <= born && born <= after, "\(before) <= \(born) <= \(after)")
        }
    }

    private func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
