import CLinux
import Glibc
import SystemPackage
import Testing

@testable import FuseMount

/// How many processors a thread may run on; 0 is the calling one.
private func processors(_ thread: Int32 = 0) -> Int {
    var set = [UInt8](repeating: 0, count: 1024)
    guard cl_processors_of(thread, UInt(set.count), &set) == 0 else { return 0 }
    return set.reduce(0) { $0 + $1.nonzeroBitCount }
}

/// Notes for each name that is looked up on how many processors the worker might run, after parking names that say so.
private final class BoundFileSystem: FileSystem {
    let features: Features = .answersAtOnce
    let seen = Gate<[String: Int]>([:])

    func start(_ session: Session) {}
    func stop() {}

    func getattr(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming AttributesReply) {
        reply.send(Attributes(ino: node, mode: S_IFDIR | 0o755), timeout: 0)
    }

    func lookup(_ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EntryReply) {
        let name = String(cString: name)
        guard name.hasPrefix("parked") else {
            seen.withLock { $0[name] = processors() }
            return reply.fail(.noSuchFileOrDirectory)
        }
        let parked = reply.park()
        seen.withLock { $0[name] = processors() }
        parked.take()?.fail(.noSuchFileOrDirectory)
    }
}

/// Workers run where the programs do that they serve, and only as long as they serve them.
@Suite struct FollowTests {
    @Test(.enabled(if: processors(getpid()) > 1)) func workersStayWithTheProgramUntilTheyPark() async throws {
        let all = processors(getpid())
        let fileSystem = BoundFileSystem()
        try await withMount(fileSystem) { mount in
            for round in 0..<3 {
                #expect(statError(mount.file("served\(round)")) == ENOENT)
                #expect(statError(mount.file("parked\(round)")) == ENOENT)
            }
        }
        let seen = fileSystem.seen.withLock { $0 }
        for round in 0..<3 {
            #expect(seen["served\(round)"] == 1)
            // A thread begun now would inherit where this one may run.
            #expect(seen["parked\(round)"] == all)
        }
    }
}
