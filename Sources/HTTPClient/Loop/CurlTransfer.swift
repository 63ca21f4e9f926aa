internal import CCurl
internal import Glibc

/// A request and the state of its transfer; only used by the loop's thread. Large: the state of one request.
final class CurlTransfer {
    /// The maximum size of an answer's headers in bytes, and their maximum number.
    private static let (longestHead, mostHeaders) = (64 << 10, 200)

    let number: UInt64
    let handle: UnsafeMutableRawPointer
    let ending: TransferLoop.Ending
    let request: HTTPRequest
    var list: UnsafeMutablePointer<curl_slist>?
    /// libcurl's message about a failure.
    let words: UnsafeMutablePointer<CChar>
    private var head = HTTPHead()
    private var (headSize, headerCount) = (0, 0)
    /// Whether the head is complete: libcurl accepts the end of the connection as the end of a head without a body.
    private var isHeadWhole = false
    private var body: [UInt8] = []
    var position: Int64 = 0
    /// How often it was sent since the last answer.
    var departures = 0
    /// Why a callback aborted it.
    private var failure: HTTPFailure?

    /// - Returns: Nil if there is not enough memory.
    init?(
        _ number: UInt64, _ request: HTTPRequest, _ setting: TransferLoop.Setting,
        _ ending: @escaping TransferLoop.Ending
    ) {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        self.number = number
        self.request = request
        self.ending = ending
        words = .allocate(capacity: Int(CURL_ERROR_SIZE))
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        setOptions(setting)
        setMethod()
        setCallbacks()
    }

    /// Called after the loop has released it.
    func free() {
        curl_easy_cleanup(handle)
        curl_slist_free_all(list)
        words.deallocate()
    }

    /// Passes on the bytes of a callback; returning a different number aborts the transfer.
    static func called(
        _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
        _ take: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        let (length, isTooMuch) = size.multipliedReportingOverflow(by: count)
        guard let context, !isTooMuch, length >= 0 else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return take(transfer, UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length)) ? length : 0
    }

    func fail(_ failure: HTTPFailure) -> Bool {
        self.failure = self.failure ?? failure
        return false
    }

    // MARK: Callbacks

    func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headSize += bytes.count
        headerCount += 1
        guard headSize <= Self.longestHead, headerCount <= Self.mostHeaders else {
            return fail(.malformed("the server's answer has too many headers"))
        }
        let line = String(decoding: bytes, as: UTF8.self)
        if line == "\r\n" || line == "\n" {
            // An answered request is not in doubt: a server that asks for a login has not carried it out.
            (isHeadWhole, departures) = (true, 0)
        }
        if line.hasPrefix("HTTP/") {
            // After a `100 Continue`, or a proxy's answer, comes another.
            (head, isHeadWhole) = (HTTPHead(), false)
            head.status = ccurl_status(handle)
            return true
        }
        guard let colon = line.firstIndex(of: ":") else { return true }
        let (name, value) = (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmedSpaces)
        if name == "www-authenticate", let former = head.headers[name] {
            head.headers[name] = "\(former), \(value)"
        } else {
            head.headers[name] = value
        }
        return true
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        head.status = ccurl_status(handle)
        if head.isSuccess, let sink = request.sink { return sink(bytes, head) || fail(.unwanted) }
        guard bytes.count <= request.longestAnswer - body.count else {
            return fail(.malformed("the server's answer is longer than \(request.longestAnswer) bytes"))
        }
        body.append(contentsOf: bytes)
        return true
    }

    func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
        let left = request.size - position
        guard left > 0 else { return 0 }
        let wanted = Int(min(Int64(room.count), left))
        switch request.body {
        case .none: return 0
        case .bytes(let bytes):
            room.copyBytes(from: bytes[Int(position)..<Int(position) + wanted])
            position += Int64(wanted)
            return wanted
        case .file(let file, let range):
            var count = 0
            repeat {
                count = pread(file, room.baseAddress, wanted, off_t(range.lowerBound) + off_t(position))
            } while count < 0 && errno == EINTR
            guard count > 0 else {
                _ = fail(.contentsEndEarly)
                return CCurlAbort.read
            }
            position += Int64(count)
            request.sent?(position)
            return count
        }
    }

    // MARK: The end

    func outcome(_ code: CURLcode) -> Result<HTTPAnswer, HTTPFailure> {
        if let failure { return .failure(failure) }
        if code == CURLE_OK {
            guard isHeadWhole else { return .failure(.unreachable("the connection broke in the middle of an answer")) }
            head.status = ccurl_status(handle)
            return .success(HTTPAnswer(head: head, body: body))
        }
        let told = String(cString: words)
        let text = told.isEmpty ? String(cString: curl_easy_strerror(code)) : told
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM:
            return .failure(.untrusted(text))
        case CURLE_OPERATION_TIMEDOUT: return .failure(.silent(text))
        default: return .failure(.unreachable(text))
        }
    }
}

/// The result of a callback that aborts.
enum CCurlAbort {
    static let read = Int(CURL_READFUNC_ABORT)
}
