import ChildProcess
import Glibc
import HTTPClient
import HTTPStorage
import PercentEncoding
import Threads

/// The bucket: signs requests and makes them, in the region where it turns out to be and by the server's clock.
final class S3Connection: Sendable {
    private struct State {
        var account: S3Account
        /// The bucket's actual region, if it differs from the configured one.
        var region: String?
        /// What the server's clock is ahead of this machine's, in seconds.
        var ahead: Int64 = 0
        var renewed = Moment.now
    }

    let address: S3Address
    private let client: HTTPClient
    private let limits: TransferLimits
    private let state: Locked<State>
    private let find: @Sendable () throws(ServerFailure) -> S3Account
    private let disk = DiskQueue("replica.s3")
    private let answered = Locked<UInt64>(0)

    /// - Parameter find: Finds the account; called again when the server rejects it.
    init(
        _ address: S3Address, limits: TransferLimits = TransferLimits(),
        find: @escaping @Sendable () throws(ServerFailure) -> S3Account
    ) throws(ServerFailure) {
        (self.address, self.limits, self.find) = (address, limits, find)
        state = Locked(State(account: try find()))
        do throws(HTTPFailure) { client = try HTTPClient(authorities: address.authorities) } catch {
            throw ServerFailure(error)
        }
    }

    /// By the server's clock, as far as that is known, in seconds since 1970.
    var now: Int64 { Moment.now + state.withLock { $0.ahead } }

    /// How many requests have ended.
    var count: UInt64 { answered.withLock { $0 } }

    /// Whose abilities are known by this: another user may not do the same.
    var server: String {
        let account = state.withLock { $0.account }
        return "\(account.endpoint) \(account.credentials.accessKey) \(address)"
    }

    /// Ends all that is under way; nothing can be asked then.
    func close() { client.close() }

    /// Sends a request whose answer means success.
    func send(_ request: S3Request) async throws(S3Error) -> HTTPAnswer {
        var tries = 0
        while true {
            let begin = ContinuousClock.now
            do throws(S3Error) {
                let answer = try await sendOnce(request)
                answered.withLock { $0 += 1 }
                return answer
            } catch {
                answered.withLock { $0 += 1 }
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
            case .silent(let text): throw .silence("\(PlainText.of(text))")
            default: throw .failure(ServerFailure(error))
            }
        }
        guard answer.head.isSuccess else { throw .complaint(S3Complaint(answer)) }
        guard request.isDone(by: answer) else {
            throw .failure(.unreachable("the server's answer is not a valid S3 answer"))
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
            moment: Moment.stamp(Moment.now + ahead))
        let payload = try await payload(of: request.body, isSecure: place.isSecure)
        let joined = Signature.joined(query)
        var made = HTTPRequest(request.method, place.url + (joined.isEmpty ? "" : "?" + joined))
        made.headers = signature.signed(
            request.method, host: place.host, path: place.path, query: query, headers: request.headers,
            payload: payload)
        (made.body, made.sink, made.sent) = (request.body, request.sink, request.sent)
        (made.longestAnswer, made.longestSilence) = (
            request.longestAnswer, min(request.longestSilence, limits.patience)
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

    // MARK: Trying again

    /// The longest pause that a server asks for and that is waited for here, in seconds.
    private static let longestPause = 2.0

    /// Whether to make a request again, after what was wrong has been set right or a short pause.
    private func isWorthAnother(
        _ error: S3Error, _ request: S3Request, _ tries: Int, _ isLate: Bool
    ) async -> Bool {
        switch error {
        case .complaint(let complaint):
            if tries == 1, isSetRight(complaint) { return true }
            guard request.mayRepeat, !isLate, [429, 500, 502, 503, 504].contains(complaint.status) else { return false }
            if let pause = complaint.pause {
                // A longer pause is left to the caller.
                guard pause <= Self.longestPause else { return false }
                // A cancelled task finds out at its next request.
                try? await Task.sleep(for: .seconds(pause))
            }
        case .failure(.unreachable): if !request.mayRepeat || isLate { return false }
        // A silent server will be silent again, and the caller waits.
        case .failure, .silence, .contentsEndEarly, .unwanted: return false
        }
        let most: UInt64 = 200_000_000 << UInt64(tries)
        // A cancelled task finds out at its next request.
        try? await Task.sleep(nanoseconds: .random(in: 50_000_000...most))
        return !Task.isCancelled
    }

    /// Whether a complaint was about what is known better now.
    private func isSetRight(_ complaint: S3Complaint) -> Bool {
        switch complaint.code {
        case "RequestTimeTooSkewed":
            guard let server = complaint.serverTime else { return false }
            state.withLock { $0.ahead = server - Moment.now }
            return true
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId", "SignatureDoesNotMatch":
            return isRenewed()
        default:
            guard let region = complaint.region, [301, 307, 400, 403].contains(complaint.status) else { return false }
            return state.withLock { state in
                guard region != state.region ?? state.account.region else { return false }
                // Amazon's endpoints have the region in their names.
                if state.account.endpoint.hasSuffix(".amazonaws.com") {
                    state.account = state.account.moved(to: region)
                }
                state.region = region
                return true
            }
        }
    }

    /// Whether there are new keys.
    private func isRenewed() -> Bool {
        let isTime = state.withLock { state in
            guard Moment.now - state.renewed >= 2 else { return false }
            state.renewed = Moment.now
            return true
        }
        // If there is no account now, the next request reports it.
        guard isTime, let account = try? find() else { return false }
        return state.withLock { state in
            defer { state.account = account }
            return state.account.credentials != account.credentials
        }
    }
}

/// Where a request goes.
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
        // libcurl leaves out what goes without saying.
        let usual = isSecure ? ":443" : ":80"
        if server.hasSuffix(usual) { server.removeLast(usual.count) }
        let base = rest.drop { $0 != "/" }
        host = account.isVirtualHosted ? "\(bucket).\(server)" : server
        let name = PercentText.encoded(key ?? [], keeping: "/")
        path = account.isVirtualHosted ? "\(base)/\(name)" : "\(base)/\(bucket)\(key == nil ? "" : "/")\(name)"
        url = scheme + host + path
    }
}
