/// Why the last fetches of some files and folders failed, until one succeeds.
struct FailedFetches {
    private var messages: [ItemNumber: String] = [:]

    /// How many are remembered.
    private static let most = 1_000

    /// One line for the user.
    var reason: String? {
        guard let message = messages.values.first else { return nil }
        return messages.count == 1
            ? "not downloaded: \(message)" : "\(messages.count) items not downloaded, one of them: \(message)"
    }

    var numbers: [ItemNumber] { Array(messages.keys) }

    /// - Returns: Whether it is remembered, and news.
    mutating func note(_ number: ItemNumber, _ message: String) -> Bool {
        guard messages[number] != message, messages[number] != nil || messages.count < Self.most else { return false }
        messages[number] = message
        return true
    }

    /// - Returns: Whether it had failed.
    mutating func end(_ number: ItemNumber) -> Bool { messages.removeValue(forKey: number) != nil }
}
