/// Splits input into lines with a maximum length.
package struct LineBuffer {
    /// In bytes, without the newline.
    package let limit: Int
    private var bytes: [UInt8] = []
    /// How many bytes were already searched for a newline.
    private var searched = 0

    package init(limit: Int) {
        self.limit = limit
    }

    /// Appends bytes.
    /// - Returns: The lines that are now complete, without their newlines; a final nil stands for a line that is too
    ///   long, after which nothing can be read.
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
