internal import CExpat

/// Reads untrusted XML (expat): document types, and thus entities, are rejected; depth, elements and text are limited.
package final class XMLReader {
    /// The limits of a document.
    package struct Limits: Sendable {
        package var bytes = 8 << 20
        package var depth = 16
        package var elements = 50_000

        package init() {}
    }

    private let limits: Limits
    private var open: [XMLElement] = []
    private var root: XMLElement?
    private var (elements, bytes) = (0, 0)
    private var isRefused = false
    private let parser: XML_Parser
    /// Receives the children of the root element, which are then not kept.
    private let child: ((XMLElement) -> Bool)?
    /// Bytes since the last child.
    private var pending = 0

    /// A document that is parsed incrementally, passing on the children of its element as soon as they are complete: it
    /// may be of any length, and the limits apply to each child.
    /// - Parameter child: Returns whether to continue.
    /// - Returns: Nil if there is not enough memory.
    package convenience init?(_ limits: Limits, child: @escaping (XMLElement) -> Bool) {
        self.init(limits, taking: child)
    }

    private init?(_ limits: Limits, taking child: ((XMLElement) -> Bool)?) {
        // A name can't contain a space.
        guard let parser = XML_ParserCreateNS(nil, XML_Char(UInt8(ascii: " "))) else { return nil }
        self.parser = parser
        self.limits = limits
        self.child = child
        setHandlers()
    }

    deinit { XML_ParserFree(parser) }

    /// The document's element; nil if it is not a valid document within the limits.
    package static func read(_ bytes: [UInt8], _ limits: Limits = Limits()) -> XMLElement? {
        guard bytes.count <= limits.bytes, let reader = XMLReader(limits, taking: nil),
            bytes.withUnsafeBytes({ reader.take($0) })
        else { return nil }
        return reader.finish()
    }

    /// Parses the next bytes of a document.
    /// - Returns: False if it is not well-formed XML within the limits: none of it can be trusted.
    package func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        pending += bytes.count
        guard !isRefused, pending <= limits.bytes + bytes.count, let count = Int32(exactly: bytes.count) else {
            isRefused = true
            return false
        }
        let status = XML_Parse(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), count, 0)
        if status != XML_STATUS_OK { isRefused = true }
        return !isRefused
    }

    /// The document's element at the end of the document; nil if it is invalid.
    package func finish() -> XMLElement? {
        guard !isRefused, XML_Parse(parser, nil, 0, 1) == XML_STATUS_OK else { return nil }
        return root
    }

    private func setHandlers() {
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { context, name, _ in
                if let name { XMLReader.of(context)?.begin(String(cString: name)) }
            },
            { context, _ in XMLReader.of(context)?.end() })
        XML_SetCharacterDataHandler(parser) { context, text, count in
            guard let text, count > 0 else { return }
            XMLReader.of(context)?.add(UnsafeRawBufferPointer(start: text, count: Int(count)))
        }
        XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in XMLReader.of(context)?.refuse() }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> XMLReader? {
        context.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private func refuse() {
        isRefused = true
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    private func begin(_ text: String) {
        elements += 1
        guard !isRefused, elements <= limits.elements, open.count < limits.depth else { return refuse() }
        let parts = text.split(separator: " ", maxSplits: 1)
        let element = XMLElement(
            name: parts.last.map(String.init) ?? "", namespace: parts.count > 1 ? String(parts[0]) : "")
        if let parent = open.last { parent.children.append(element) } else { root = element }
        open.append(element)
    }

    private func add(_ text: UnsafeRawBufferPointer) {
        bytes += text.count
        guard !isRefused, bytes <= limits.bytes else { return refuse() }
        open.last?.bytes.append(contentsOf: text)
    }

    private func end() {
        guard !isRefused, let element = open.popLast(), let child, open.count == 1 else { return }
        open[0].children.removeAll()
        open[0].bytes.removeAll()
        (elements, bytes, pending) = (1, 0, 0)
        if !child(element) { refuse() }
    }
}
