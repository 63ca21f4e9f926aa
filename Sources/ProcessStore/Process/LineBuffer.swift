/// Cuts what comes into lines, none of them longer than a limit.
package struct LineBuffer {
    /// In bytes, without the newline.
    package let limit: Int
    private var bytes: [UInt8] = []
    /// How many of them have no newline.
    private var searched = 0

    package init(limit: Int) {
        self.limit = limit
    }

    /// Takes what came.
    /// - Returns: The lines that are complete now, without their newlines; nil at the end of them for one that is too long,
    ///   after which nothing can be read.
    package mutating func take(_ fresh: UnsafeRawBufferPointer) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        bytes.append(contentsOf: fresh)
        var start = 0
        while let end = bytes[max(start, searched)...].firstIndex(of: UInt8(ascii: "\n")) {
            guard end - start <= limit else { return lines + [nil] }
            lines.append(Array(bytes[start..<end]))
            start = end + 1
            searched = start
        }
        bytes.removeFirst(start)
        searched = bytes.count
        return bytes.count <= limit ? lines : lines + [nil]
    }
}
