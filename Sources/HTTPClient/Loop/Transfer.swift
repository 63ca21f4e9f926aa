internal import CCurl
internal import Glibc

/// A request and the state of its transfer; only used by the loop's thread. Large: the state of one request.
final class Transfer {
    /// The maximum size of an answer's headers in bytes, and their maximum number.
    private static let (longestHead, mostHeaders) = (64 << 10, 200)

    let number: UInt64
    let handle: UnsafeMutableRawPointer
    let ending: TransferLoop.Ending
    private let request: HTTPRequest
    private var list: UnsafeMutablePointer<curl_slist>?
    /// libcurl's message about a failure.
    private let words: UnsafeMutablePointer<CChar>
    private var head = HTTPHead()
    private var (headSize, headerCount) = (0, 0)
    /// Whether the head is complete: libcurl accepts the end of the connection as the end of a head without a body.
    private var isHeadWhole = false
    private var body: [UInt8] = []
    private var position: Int64 = 0
    /// How often it was sent since the last answer.
    private var departures = 0
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

    private func setOptions(_ setting: TransferLoop.Setting) {
        _ = ccurl_allow_http_only(handle)
        _ = ccurl_set_text(handle, CURLOPT_URL, request.url)
        // Keys may contain `..` for the server, and a signature covers the path as written.
        _ = ccurl_set_number(handle, CURLOPT_PATH_AS_IS, 1)
        _ = ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1)
        _ = ccurl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        _ = ccurl_set_number(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        _ = ccurl_set_number(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        _ = ccurl_set_number(handle, CURLOPT_CONNECTTIMEOUT, 20)
        _ = ccurl_set_number(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
        _ = ccurl_set_number(handle, CURLOPT_LOW_SPEED_TIME, request.longestSilence)
        _ = ccurl_set_number(handle, CURLOPT_TCP_KEEPALIVE, 1)
        _ = ccurl_set_number(handle, CURLOPT_SSL_VERIFYPEER, 1)
        _ = ccurl_set_number(handle, CURLOPT_SSL_VERIFYHOST, 2)
        _ = ccurl_set_number(handle, CURLOPT_BUFFERSIZE, 128 << 10)
        _ = ccurl_set_number(handle, CURLOPT_UPLOAD_BUFFERSIZE, 128 << 10)
        _ = ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, words)
        // A reused connection may be closed by the server while the request is sent, and then its outcome is unknown.
        // Servers close idle connections after five seconds or more.
        if request.isSentOnce { _ = ccurl_set_number(handle, CURLOPT_MAXAGE_CONN, 3) }
        if let authorities = setting.authorities { _ = ccurl_set_text(handle, CURLOPT_CAINFO, authorities) }
        if let socket = setting.socket {
            _ = ccurl_set_text(handle, CURLOPT_UNIX_SOCKET_PATH, socket)
        }
        // No proxy of the environment is used.
        if setting.socket != nil || request.isDirect { _ = ccurl_set_text(handle, CURLOPT_PROXY, "") }
        if let login = request.login { setLogin(login) }
    }

    private func setLogin(_ login: HTTPLogin) {
        switch login {
        case .basic(let user, let password), .digest(let user, let password):
            _ = ccurl_set_text(handle, CURLOPT_USERNAME, user)
            _ = ccurl_set_text(handle, CURLOPT_PASSWORD, password)
        case .bearer(let token): _ = ccurl_set_text(handle, CURLOPT_XOAUTH2_BEARER, token)
        }
        _ = ccurl_set_number(handle, CURLOPT_HTTPAUTH, Int(bitPattern: ccurl_scheme(login.scheme)))
    }

    private func setMethod() {
        switch request.method {
        case "GET": _ = ccurl_set_number(handle, CURLOPT_HTTPGET, 1)
        case "HEAD": _ = ccurl_set_number(handle, CURLOPT_NOBODY, 1)
        case "PUT", "POST":
            _ = ccurl_set_number(handle, CURLOPT_UPLOAD, 1)
            _ = ccurl_set_size(handle, CURLOPT_INFILESIZE_LARGE, request.size)
            _ = ccurl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method)
        default:
            if request.size > 0 {
                _ = ccurl_set_number(handle, CURLOPT_UPLOAD, 1)
                _ = ccurl_set_size(handle, CURLOPT_INFILESIZE_LARGE, request.size)
            }
            _ = ccurl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method)
        }
        for header in request.headers {
            // libcurl's syntax for a header without a value is a semicolon.
            let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
            list = curl_slist_append(list, line) ?? list
        }
        // No `Expect: 100-continue` for small bodies: servers that ignore it would cause a delay of a second.
        if request.size < 1 << 20 { list = curl_slist_append(list, "Expect:") ?? list }
        _ = ccurl_set_headers(handle, list)
    }

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA] {
            _ = ccurl_set_pointer(handle, option, context)
        }
        // libcurl repeats any request that a reused connection did not answer, although it may have been carried out.
        _ = ccurl_set_before(handle) { context, _, _, _, _ in
            guard let context else { return CURL_PREREQFUNC_ABORT }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            transfer.departures += 1
            guard transfer.departures > 1, transfer.request.isSentOnce else { return CURL_PREREQFUNC_OK }
            _ = transfer.fail(.unreachable("the connection broke before there was an answer"))
            return CURL_PREREQFUNC_ABORT
        }
        _ = ccurl_set_data(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            Transfer.called(context, bytes, size, count) { $0.takeHeader($1) }
        }
        _ = ccurl_set_data(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            Transfer.called(context, bytes, size, count) { $0.take($1) }
        }
        _ = ccurl_set_data(handle, CURLOPT_READFUNCTION) { bytes, size, count, context in
            guard let context, let bytes else { return CCurlAbort.read }
            let (room, isTooMuch) = size.multipliedReportingOverflow(by: count)
            guard !isTooMuch else { return CCurlAbort.read }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.give(UnsafeMutableRawBufferPointer(start: bytes, count: room))
        }
        _ = ccurl_set_seek(handle) { context, offset, origin in
            guard let context, origin == SEEK_SET, offset >= 0 else { return CURL_SEEKFUNC_FAIL }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            guard offset <= transfer.request.size else { return CURL_SEEKFUNC_FAIL }
            transfer.position = Int64(offset)
            return CURL_SEEKFUNC_OK
        }
    }

    /// Passes on the bytes of a callback; returning a different number aborts the transfer.
    private static func called(
        _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
        _ take: (Transfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        let (length, isTooMuch) = size.multipliedReportingOverflow(by: count)
        guard let context, !isTooMuch, length >= 0 else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return take(transfer, UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length)) ? length : 0
    }

    private func fail(_ failure: HTTPFailure) -> Bool {
        self.failure = self.failure ?? failure
        return false
    }

    // MARK: Callbacks

    private func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
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

    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        head.status = ccurl_status(handle)
        if head.isSuccess, let sink = request.sink { return sink(bytes, head) || fail(.unwanted) }
        guard bytes.count <= request.longestAnswer - body.count else {
            return fail(.malformed("the server's answer is longer than \(request.longestAnswer) bytes"))
        }
        body.append(contentsOf: bytes)
        return true
    }

    private func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
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

extension HTTPLogin {
    fileprivate var scheme: CCurlScheme {
        switch self {
        case .basic: CCURL_BASIC
        case .digest: CCURL_DIGEST
        case .bearer: CCURL_BEARER
        }
    }
}

/// The result of a callback that aborts.
enum CCurlAbort {
    static let read = Int(CURL_READFUNC_ABORT)
}
