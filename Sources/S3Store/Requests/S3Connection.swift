import ChildProcess
import Glibc
import HTTPClient
import HTTPStorage
import PercentEncoding
import Threads

/// Signs requests and sends them to the bucket, in its actual region and with the server's clock.
final class S3Connection: Sendable {
    private struct State {
        var account: S3Account
        /// The bucket's actual region, if it differs from the configured one.
        var region: String?
        /// How far the server's clock is ahead of this machine's, in seconds.
        var ahead: Int64 = 0
        var renewed = ServerTime.localNow
    }

    let address: S3Address
    private let client: HTTPClient
    private let limits: TransferLimits
    private let state: Locked<State>
    private let find: @Sendable () async throws(ServerFailure) -> S3Account
    private let disk = DiskQueue("replica.s3")
    private let answered = Locked<UInt64>(0)

    /// - Parameter find: Finds the account; called when the server rejects the former one.
    init(
        _ address: S3Address, account: S3Account, limits: TransferLimits = TransferLimits(),
        find: @escaping @Sendable () async throws(ServerFailure) -> S3Account
    ) throws(ServerFailure) {
        (self.address, self.limits, self.find) = (address, limits, find)
        state = Locked(State(account: account))
        do throws(HTTPFailure) { client = try HTTPClient(authorities: address.authorities) } catch {
            throw ServerFailure(error)
        }
    }

    /// The time by the server's clock, as far as that is known, in seconds since 1970.
    var now: Int64 { ServerTime.localNow + state.withLock { $0.ahead } }

    /// The number of finished requests of calls.
    var count: UInt64 { answered.withLock { $0 } }

    /// The key of the recorded features: another user may have fewer rights.
    var server: String {
        let account = state.withLock { $0.account }
        return "\(account.endpoint) \(account.credentials.accessKey) \(address)"
    }

    /// Cancels all requests in flight, and all later ones.
    func close() { client.close() }

    /// Sends a request whose answer means success.
    func send(_ request: S3Request) async throws(S3Error) -> HTTPAnswer {
        var tries = 0
        while true {
            let begin = ContinuousClock.now
            do throws(S3Error) {
                let answer = try await sendOnce(request)
                if request.isProgress { answered.withLock { $0 += 1 } }
                return answer
            } catch {
                if request.isProgress { answered.withLock { $0 += 1 } }
                tries += 1
                let isLate = .now - begin >= .seconds(10)
                guard tries < limits.attempts, await isWorthAnother(error, request, tries, isLate) else { throw error }
            }
        }
    }

    private func sendOnce(_ request: S3Request) async throws(S3Error) -> HTTPAnswer {
        let signed = try await signed(request)
        let answer: HTTPAnswer
        do throws(HTTPFailure) { answer = try await client.answer(to: signed) } catch {
            switch error {
            case .contentsEndEarly: throw .contentsEndEarly
            case .unwanted: throw .unwanted
            case .silent(let text): throw .silence("\(SanitizedText.of(text))")
            default: throw .failure(ServerFailure(error))
            }
        }
        guard answer.head.isSuccess else { throw .complaint(S3Complaint(answer)) }
        guard request.isDone(by: answer) else {
            throw .strange
        }
        return answer
    }

    // MARK: Signing

    private func signed(_ request: S3Request) async throws(S3Error) -> HTTPRequest {
        let (account, region, ahead) = state.withLock { ($0.account, $0.region, $0.ahead) }
        let place = Place(account, bucket: address.bucket, key: request.key)
        let query = request.query.map {
            (name: PercentText.encoded($0.name.utf8), value: PercentText.encoded($0.value.utf8))
        }
        let signature = Signature(
            credentials: account.credentials, region: region ?? account.region,
            moment: ServerTime.stamp(ServerTime.localNow + ahead))
        let payload = try await payload(of: request.body, isSecure: place.isSecure)
        let joined = Signature.joined(query)
        var made = HTTPRequest(request.method, place.url + (joined.isEmpty ? "" : "?" + joined))
        made.headers = signature.signed(
            request.method, host: place.host, path: place.path, query: query, headers: request.headers,
            payload: payload)
        (made.body, made.sink, made.sent) = (request.body, request.sink, request.sent)
        (made.longestAnswer, made.longestSilence) = (
            request.longestAnswer, min(request.longestSilence, limits.silenceSeconds)
        )
        made.isSentOnce = !request.mayRepeat && request.method != "GET"
        return made
    }

    private func payload(of body: HTTPRequest.Body, isSecure: Bool) async throws(S3Error) -> String {
        switch body {
        case .none: return Hash.hexadecimal(Hash.sha256([]))
        case .bytes(let bytes): return Hash.hexadecimal(Hash.sha256(bytes))
        case .file(let file, let range):
            if isSecure { return Signature.unsigned }
            let hash = await disk.run { Hash.sha256(file, range) }
            guard let hash else { throw .contentsEndEarly }
            return Hash.hexadecimal(hash)
        }
    }

    // MARK: Retries

    /// The longest requested pause that is waited for here, in seconds.
    private static let longestPause = 2.0

    /// Whether to repeat a request, after its cause was corrected or a short pause.
    private func isWorthAnother(
        _ error: S3Error, _ request: S3Request, _ tries: Int, _ isLate: Bool
    ) async -> Bool {
        switch error {
        case .complaint(let complaint):
            if tries == 1, await isSetRight(complaint) { return true }
            guard request.mayRepeat, !isLate, [429, 500, 502, 503, 504].contains(complaint.status) else { return false }
            if let pause = complaint.pause {
                // A longer pause is left to the caller.
                guard pause <= Self.longestPause else { return false }
                // A cancelled task notices it at its next request.
                try? await Task.sleep(for: .seconds(pause))
            }
        case .failure(.unreachable): if !request.mayRepeat || isLate { return false }
        // A server that does not answer will not answer the retry either, and the caller is waiting.
        case .failure, .silence, .contentsEndEarly, .unwanted: return false
        }
        let most: UInt64 = 200_000_000 << UInt64(tries)
        // A cancelled task notices it at its next request.
        try? await Task.sleep(nanoseconds: .random(in: 50_000_000...most))
        return !Task.isCancelled
    }

    /// Whether an error was due to information that has been corrected.
    private func isSetRight(_ complaint: S3Complaint) async -> Bool {
        switch complaint.code {
        case "RequestTimeTooSkewed":
            guard let server = complaint.serverTime else { return false }
            state.withLock { $0.ahead = server - ServerTime.localNow }
            return true
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId", "SignatureDoesNotMatch":
            return await isRenewed()
        default:
            guard let region = complaint.region, [301, 307, 400, 403].contains(complaint.status) else { return false }
            return state.withLock { state in
                guard region != state.region ?? state.account.region else { return false }
                // Amazon's endpoints contain the region in their names.
                if state.account.endpoint.hasSuffix(".amazonaws.com") {
                    state.account = state.account.moved(to: region)
                }
                state.region = region
                return true
            }
        }
    }

    /// Whether there are new keys.
    private func isRenewed() async -> Bool {
        let isTime = state.withLock { state in
            guard ServerTime.localNow - state.renewed >= 2 else { return false }
            state.renewed = ServerTime.localNow
            return true
        }
        // If there is no account now, the next request reports it.
        guard isTime, let account = try? await find() else { return false }
        return state.withLock { state in
            defer { state.account = account }
            return state.account.credentials != account.credentials
        }
    }
}

/// The URL of a request.
private struct Place {
    let host: String
    let path: String
    let url: String
    let isSecure: Bool

    init(_ account: S3Account, bucket: String, key: [UInt8]?) {
        isSecure = account.endpoint.hasPrefix("https://")
        let scheme = isSecure ? "https://" : "http://"
        let rest = account.endpoint.dropFirst(scheme.count)
        var server = String(rest.prefix { $0 != "/" }).lowercased()
        // libcurl omits default ports.
        let usual = isSecure ? ":443" : ":80"
        if server.hasSuffix(usual) { server.removeLast(usual.count) }
        let base = rest.drop { $0 != "/" }
        host = account.isVirtualHosted ? "\(bucket).\(server)" : server
        let name = PercentText.encoded(key ?? [], keeping: "/")
        path = account.isVirtualHosted ? "\(base)/\(name)" : "\(base)/\(bucket)\(key == nil ? "" : "/")\(name)"
        url = scheme + host + path
    }
}

extension S3Connection {
    /// A key as the source of a copy.
    func copySource(_ key: [UInt8]) -> String {
        PercentText.encoded(Array("\(address.bucket)/".utf8) + key, keeping: "/")
    }
}
