import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica

/// The settings that the daemon gets from its unit, and its notifications to the service manager.
@Suite struct SystemdTests {
    @Test(arguments: [
        "", "@", "/", "notify", "./notify", "vsock:2:1234", "@" + String(repeating: "n", count: 107),
        "/" + String(repeating: "n", count: 107),
    ])
    func anInvalidSocketAddressIsIgnoredWithOneLine(text: String) {
        let service = SystemdSettings([NotifySocket.variable: text, "WATCHDOG_USEC": "1000000"], process: 1)
        #expect(service.notice == nil && service.watchdog == nil)
        #expect(service.complaints == ["NOTIFY_SOCKET is not a valid socket address, so it is ignored"])
    }

    @Test(arguments: [("60", 60.0), ("0", 0), ("2.5", 2.5)])
    func theUnitSetsTheFlushLimit(text: String, seconds: Double) {
        let service = SystemdSettings([SystemdSettings.flushVariable: text], process: 1)
        #expect(service.flush == seconds && service.complaints.isEmpty && service.notice == nil)
    }

    @Test(arguments: ["", "-1", "nan", "inf", "1e9", "60s"])
    func anInvalidFlushLimitIsIgnoredWithOneLine(text: String) {
        let service = SystemdSettings([SystemdSettings.flushVariable: text], process: 1)
        #expect(service.flush == 0 && service.complaints.count == 1)
    }

    @Test(arguments: [("7", 3.0), (nil, 3.0), ("8", nil), ("", nil)] as [(String?, Double?)])
    func theWatchdogIsOnlyForItsProcess(process: String?, seconds: Double?) {
        var environment = [NotifySocket.variable: "@x", "WATCHDOG_USEC": "3000000"]
        environment["WATCHDOG_PID"] = process
        #expect(SystemdSettings(environment, process: 7).watchdog == seconds)
    }

    @Test(arguments: ["path", "abstract"])
    func linesArriveAsOneDatagram(kind: String) throws {
        let folder = try TemporaryFolder()
        let name = kind == "path" ? "\(folder.path)/notify" : "@replica-test-\(UUID())"
        let socket = try DatagramSocket(name)
        defer { socket.close() }
        let notice = try #require(NotifySocket(name))
        #expect(notice.send(["READY=1", NotifySocket.status("a\nMAINPID=1 \u{85}b")]) == 0)
        #expect(socket.next() == "READY=1\nSTATUS=a?MAINPID=1 ?b")
    }

    @Test func aMissingServiceManagerIsHarmless() throws {
        let folder = try TemporaryFolder()
        #expect(NotifySocket("\(folder.path)/nobody")?.send(["READY=1"]) == ENOENT)
    }
}

/// The service manager's end of the socket.
private struct DatagramSocket {
    let descriptor: Int32

    init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sa_family_t>.size + bytes.count))
            }
        }
        guard code == 0 else { throw POSIXError(.EIO) }
    }

    func next() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    func close() { _ = Glibc.close(descriptor) }
}
