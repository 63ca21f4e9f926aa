import ArgumentParser
import ReplicaControl

/// `replica logout`.
struct Logout: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove a stored login.",
        discussion: "A running daemon uses it until it is restarted.")

    @Argument(help: "The store's URL, or the name of a domain in it.", completion: .domain)
    var store: String

    func run() throws {
        var (text, last) = (store, String?.none)
        if !StoreURL.looksLikeURL(store) {
            let domain = try Domains().named(store)
            (text, last) = (domain.record.store, DomainLogin.place(state: domain.state))
        }
        let url = try Login.store(text)
        guard let place = LoginPlace(url) else { throw ControlFailure(.badStore, LoginPrompt.none(url)) }
        guard let removed = try Logins.own?.forget(place, last: last) else {
            throw ControlFailure(.failed, "no login is saved for \(place)")
        }
        Output.line("The login for \(removed) is removed.")
    }
}
