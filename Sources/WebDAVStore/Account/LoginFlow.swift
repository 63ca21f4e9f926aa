import ChildProcess
import Foundation
import HTTPClient
package import HTTPStorage
import PercentEncoding
import ReplicaModel

/// Nextcloud's login flow, version 2, which gives a program its own password: a user opens a page in a browser and
/// confirms, and the program polls until then. All requests go to the given server, even if its answers name another.
package struct LoginFlow: Sendable {
    /// The result.
    package struct Granted: Hashable, Sendable {
        package let user: String
        package let password: String
        /// The URL of the user's files.
        package let store: String
    }

    /// The page on which the user grants access.
    package struct Page: Hashable, Sendable {
        package let url: String
        /// Whether the URL contains the token of the polls: whoever has that gets the password.
        package let holdsSecret: Bool
        /// Whether it is on a server with TLS, or on this machine.
        package let isSafe: Bool
    }

    struct Begun: Decodable {
        struct Poll: Decodable {
            var token: String
            var endpoint: String
        }
        var poll: Poll
        var login: String
    }

    struct Answer: Decodable {
        var loginName: String
        var appPassword: String
    }

    private let address: WebDAVAddress
    private let client: HTTPClient

    /// - Parameters:
    ///   - url: `https://host[:port][/path]`; `http://` on this machine only.
    ///   - authorities: A file of certificates instead of the system's.
    package init(_ url: String, authorities: String? = nil) throws(ServerFailure) {
        let isSecure = url.lowercased().hasPrefix("https://")
        guard isSecure || url.lowercased().hasPrefix("http://"), let start = url.firstRange(of: "://")?.upperBound
        else {
            throw .refused("the server's address must begin with https://")
        }
        do throws(WebDAVAddress.Invalid) {
            address = try WebDAVAddress(String(url[start...]), isSecure: isSecure)
        } catch {
            throw .refused(error.description)
        }
        guard isSecure || address.isLocal else {
            throw .refused("a login requires TLS: use https://")
        }
        do throws(HTTPFailure) {
            client = try HTTPClient(authorities: authorities, connections: 2)
        } catch {
            throw ServerFailure(error)
        }
    }

    /// Runs the login flow.
    /// - Parameters:
    ///   - pause: The interval between two polls.
    ///   - timeLimit: How long the user has.
    ///   - show: Called with the page to open.
    package func run(
        pause: Duration = .seconds(2), timeLimit: Duration = .seconds(1_200), show: (Page) -> Void
    ) async throws(ServerFailure) -> Granted {
        defer { client.close() }
        guard let begun: Begun = try await ask(url(["index.php", "login", "v2"]), form: "") else {
            throw .refused("the server does not offer Nextcloud's login flow")
        }
        let token = try Self.token(begun)
        let (page, endpoint) = (try own(begun.login), try own(begun.poll.endpoint))
        let isSafe = page.hasPrefix("https://") || address.isLocal
        show(Page(url: page, holdsSecret: page.contains(token), isSafe: isSafe))
        let end = ContinuousClock.now + timeLimit
        var longer = Duration.zero
        while ContinuousClock.now < end {
            // A cancelled task notices it at its next request.
            try? await Task.sleep(for: min(pause + longer, end - .now))
            longer = .zero
            do throws(ServerFailure) {
                guard let answer: Answer = try await ask(endpoint, form: "token=\(token)") else { continue }
                return try granted(answer)
            } catch {
                switch error {
                // The user is reading the page: a failed request does not matter.
                case .busy(let seconds): longer = .seconds(min(seconds, 60))
                case .unreachable: continue
                case .untrusted, .notAuthenticated, .refused, .cancelled: throw error
                }
            }
        }
        throw .notAuthenticated("access was not granted on the server's page in time")
    }

    private static var strange: ServerFailure { .unreachable("the server's answer is not a valid Nextcloud answer") }

    private func url(_ names: [String]) -> String {
        address.url(names.map { .init($0) }, isFolder: false)
    }

    /// The URL on the given server with the path of the server's URL: the server may not know the scheme by which it is
    /// reached.
    func own(_ text: String) throws(ServerFailure) -> String {
        guard let url = URLComponents(string: text), url.host?.lowercased() == address.host, url.user == nil,
            url.percentEncodedPath.hasPrefix("/"), text.utf8.count <= 2_048,
            text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        else { throw .refused("the server redirects to \(SanitizedText.of(text, longest: 200))") }
        let query = url.percentEncodedQuery.map { "?\($0)" } ?? ""
        return "\(address.isSecure ? "https" : "http")://\(address.server)\(url.percentEncodedPath)\(query)"
    }

    /// - Returns: Nil for 404: not confirmed yet, or the page does not exist.
    private func ask<Value: Decodable>(_ url: String, form: String) async throws(ServerFailure) -> Value? {
        var request = HTTPRequest(
            "POST", url,
            headers: [
                ("Content-Type", "application/x-www-form-urlencoded"), ("User-Agent", "replica"),
                ("Accept", "application/json"), ("OCS-APIRequest", "true"),
            ])
        request.body = form.isEmpty ? .none : .bytes(Array(form.utf8))
        let answer: HTTPAnswer
        do throws(HTTPFailure) { answer = try await client.answer(to: request) } catch { throw ServerFailure(error) }
        switch answer.head.status {
        case 404: return nil
        case 200:
            return try Self.value(answer.body)
        case 429, 503: throw .busy(answer.head.retryAfterSeconds ?? 1)
        default: throw .unreachable("the server answers \(answer.head.status)")
        }
    }

    /// What a server's bytes say.
    static func value<Value: Decodable>(_ bytes: [UInt8]) throws(ServerFailure) -> Value {
        do { return try JSONDecoder().decode(Value.self, from: Data(bytes)) } catch { throw strange }
    }

    /// A token, encoded for a form.
    static func token(_ begun: Begun) throws(ServerFailure) -> String {
        let token = begun.poll.token
        guard (1...512).contains(token.utf8.count), token.utf8.allSatisfy(PercentText.isAlphanumeric) else {
            throw strange
        }
        return token
    }

    func granted(_ answer: Answer) throws(ServerFailure) -> Granted {
        for text in [answer.loginName, answer.appPassword] {
            guard (1...255).contains(text.utf8.count), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw Self.strange
            }
        }
        let folder = ["remote.php", "dav", "files", answer.loginName].map { PercentText.encoded($0.utf8) }
        let path = address.path.map { PercentText.encoded($0.bytes) } + folder
        let store = "\(address.isSecure ? "davs" : "dav")://\(address.server)/\(path.joined(separator: "/"))"
        return Granted(user: answer.loginName, password: answer.appPassword, store: store)
    }
}
