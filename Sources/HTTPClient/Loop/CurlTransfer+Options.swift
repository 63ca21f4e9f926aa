internal import CCurl
internal import Glibc

/// The options of libcurl: verification of TLS, timeouts, the login, the method, the headers and the callbacks.
extension CurlTransfer {
    func setOptions(_ setting: TransferLoop.Setting) {
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

    func setMethod() {
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

    func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA] {
            _ = ccurl_set_pointer(handle, option, context)
        }
        // libcurl repeats any request that a reused connection did not answer, although it may have been carried out.
        _ = ccurl_set_before(handle) { context, _, _, _, _ in
            guard let context else { return CURL_PREREQFUNC_ABORT }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            transfer.departures += 1
            guard transfer.departures > 1, transfer.request.isSentOnce else { return CURL_PREREQFUNC_OK }
            _ = transfer.fail(.unreachable("the connection broke before there was an answer"))
            return CURL_PREREQFUNC_ABORT
        }
        _ = ccurl_set_data(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            CurlTransfer.called(context, bytes, size, count) { $0.takeHeader($1) }
        }
        _ = ccurl_set_data(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            CurlTransfer.called(context, bytes, size, count) { $0.take($1) }
        }
        _ = ccurl_set_data(handle, CURLOPT_READFUNCTION) { bytes, size, count, context in
            guard let context, let bytes else { return CCurlAbort.read }
            let (room, isTooMuch) = size.multipliedReportingOverflow(by: count)
            guard !isTooMuch else { return CCurlAbort.read }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.give(UnsafeMutableRawBufferPointer(start: bytes, count: room))
        }
        _ = ccurl_set_seek(handle) { context, offset, origin in
            guard let context, origin == SEEK_SET, offset >= 0 else { return CURL_SEEKFUNC_FAIL }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            guard offset <= transfer.request.size else { return CURL_SEEKFUNC_FAIL }
            transfer.position = Int64(offset)
            return CURL_SEEKFUNC_OK
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
