extension StringProtocol {
    /// Without ASCII white space and control characters at both ends.
    package var trimmedSpaces: String {
        let isSpace: (Unicode.Scalar) -> Bool = { $0.value <= 0x20 }
        let scalars = String(self).unicodeScalars.drop(while: isSpace)
        var end = scalars.endIndex
        while end > scalars.startIndex {
            let before = scalars.index(before: end)
            guard isSpace(scalars[before]) else { break }
            end = before
        }
        return String(scalars[..<end])
    }
}
