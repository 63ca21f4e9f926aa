package import HTTPClient

extension HTTPHead {
    /// The seconds that the server asks to wait (`Retry-After`, RFC 9110 §10.2.3), at most an hour; nil if it asks for no number.
    package var retryAfterSeconds: Double? {
        self["retry-after"].flatMap(HTTPHead.size).map { Double(min($0, 3_600)) }
    }
}
