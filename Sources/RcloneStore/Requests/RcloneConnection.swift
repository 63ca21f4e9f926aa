import ChildProcess
import FoundationEssentials
import Glibc
import HTTPClient
import HTTPStorage
import PercentEncoding
import Threads

/// Makes the calls of rclone's server.
final class RcloneConnection: Sendable {
    private let client: HTTPClient
    private let server: RcloneRunner?
    private let base: String
    private let silence: Int
    private let count = Locked<UInt64>(0)

    /// - Parameters:
    ///   - server: Keeps it running; nil for one that is already running.
    ///   - base: Its URL, if it does not listen on a socket.
    ///   - silence: The timeout without a byte, in seconds.
    init(client: HTTPClient, server: RcloneRunner? = nil, base: String = "http://rclone", silence: Int = 60) {
        (self.client, self.server, self.base, self.silence) = (client, server, base, silence)
    }

    /// A number that grows as long as it makes progress.
    var steps: UInt64 { count.withLock { $0 } }

    /// Cancels all requests in flight, and all later ones.
    func close() async {
        client.close()
        await server?.close()
    }

    // MARK: Calls

    /// Makes a call that changes nothing, and repeats it after transient failures.
    func ask<Answer: Decodable>(_ call: String, _ input: RcloneInput) async throws(RcloneError) -> Answer {
        try await repeating { () async throws(RcloneError) in try await self.callOnce(call, input) }
    }

    /// Makes a call.
    func callOnce<Answer: Decodable>(_ call: String, _ input: some Encodable & Sendable) async throws(RcloneError)
        -> Answer
    {
        try Self.read(try await send(try request(call, input)))
    }

    private static func read<Answer: Decodable>(_ answer: HTTPAnswer) throws(RcloneError) -> Answer {
        // Text that can't be decoded is not rclone's answer.
        guard let value = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)) else { throw .strange }
        return value
    }

    private func request(_ call: String, _ input: some Encodable & Sendable) throws(RcloneError) -> HTTPRequest {
        var request = HTTPRequest("POST", "\(base)/\(call)", headers: [("Content-Type", "application/json")])
        // Only invalid text can't be encoded as JSON; there is none here.
        guard let body = try? JSONEncoder().encode(input) else { throw .strange }
        (request.body, request.longestSilence, request.longestAnswer) = (.bytes(Array(body)), silence, 256 << 10)
        request.isSentOnce = true
        return request
    }

    /// The request for a file's content.
    func contentRequest(_ fs: String, _ path: String, _ range: Range<Int64>?) -> HTTPRequest {
        let place = PercentText.encoded("[\(fs)]".utf8)
        var request = HTTPRequest("GET", "\(base)/\(place)/\(PercentText.encoded(path.utf8, keeping: "/"))")
        if let range { request.headers.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")) }
        request.longestSilence = silence
        return request
    }

    /// Makes a request and expects success.
    func send(_ request: HTTPRequest) async throws(RcloneError) -> HTTPAnswer {
        do throws(ServerFailure) { try await server?.ready() } catch { throw .failure(error) }
        defer { count.withLock { $0 += 1 } }
        let answer: HTTPAnswer
        do throws(HTTPFailure) { answer = try await client.answer(to: request) } catch {
            switch error {
            case .unwanted: throw .unwanted
            case .cancelled, .contentsEndEarly: throw .failure(.cancelled)
            default: throw .failure(await death() ?? ServerFailure(error))
            }
        }
        guard answer.head.isSuccess else {
            guard let complaint = RcloneError.Complaint(answer) else { throw .strange }
            throw .complaint(complaint)
        }
        return answer
    }

    /// Why the server does not answer, if it has died: that is known a moment after its connections broke.
    private func death() async -> ServerFailure? {
        guard let server else { return nil }
        // A cancelled task does not need it.
        if server.death == nil { try? await Task.sleep(for: .milliseconds(50)) }
        return server.death
    }

    /// Makes a call that changes nothing, and repeats it a few times after transient failures.
    func repeating<Value>(_ body: () async throws(RcloneError) -> Value) async throws(RcloneError) -> Value {
        var tries = 0
        while true {
            do throws(RcloneError) { return try await body() } catch {
                tries += 1
                let mayPass: Bool =
                    switch error {
                    case .failure(.unreachable(let text)): !text.contains("imed out")
                    case .strange: true
                    default: false
                    }
                guard mayPass, tries < 4 else { throw error }
                // A cancelled task notices it at its next request.
                try? await Task.sleep(for: .milliseconds(Int.random(in: 20...60) << tries))
                if Task.isCancelled { throw error }
            }
        }
    }

    // MARK: Long calls

    /// The timeout of a long call without progress. rclone itself gives up earlier if the network is silent.
    private static let longestStandstill = Duration.seconds(600)

    /// Makes a call without a time limit, as long as it makes progress.
    /// - Parameters:
    ///   - sink: Receives the answer instead of returning it.
    ///   - progress: Called with the number of transferred bytes.
    func long(
        _ call: String, _ input: RcloneInput, sink: HTTPRequest.Sink? = nil,
        progress: (@Sendable (Int64) -> Void)? = nil
    ) async throws(RcloneError) {
        var input = input
        // Each call has its own group: rclone counts the errors of a group, and does not finish a move if there were
        // any.
        let group = "replica/\(UInt64.random(in: 0 ... .max))"
        input.group = group
        var made = try request(call, input)
        // The progress is between rclone and the remote. In tests, the timeout is that of this connection.
        if silence >= 60 { made.longestSilence = 86_400 }
        made.sink = sink
        let request = made
        let outcome = await withTaskGroup(of: Result<Void, RcloneError>.self) { tasks in
            tasks.addTask {
                do throws(RcloneError) {
                    let answer = try await self.send(request)
                    // The page of a captive portal is a success too.
                    if request.sink == nil { let _: RcloneNothing = try Self.read(answer) }
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            tasks.addTask { .failure(await self.watch(group, progress)) }
            let first = await tasks.next() ?? .failure(.strange)
            // Closing the connection makes rclone stop.
            tasks.cancelAll()
            return first
        }
        try outcome.get()
    }

    /// Returns when there is no progress.
    private func watch(_ group: String, _ progress: (@Sendable (Int64) -> Void)?) async -> RcloneError {
        var (last, moved) = (RcloneProgress?.none, ContinuousClock.now)
        while .now - moved < Self.longestStandstill {
            // A cancelled task has been answered.
            do { try await Task.sleep(for: .seconds(1)) } catch { return .failure(.cancelled) }
            // The call itself reports the error.
            guard let now = try? await stats(group) else { continue }
            if now != last { (last, moved) = (now, .now) }
            progress?(now.bytes)
        }
        return .failure(.unreachable("there is no progress between rclone and the remote"))
    }

    private func stats(_ group: String) async throws(RcloneError) -> RcloneProgress {
        struct Group: Encodable {
            let group: String
        }
        return try await callOnce("core/stats", Group(group: group))
    }
}
