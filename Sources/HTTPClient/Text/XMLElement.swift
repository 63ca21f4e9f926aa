internal import CExpat

/// An element of an XML document, with what is in it.
package final class XMLElement {
    /// Without its namespace.
    package let name: String
    package let namespace: String
    package fileprivate(set) var children: [XMLElement] = []
    /// Its own text, in UTF-8.
    package fileprivate(set) var bytes: [UInt8] = []

    fileprivate init(name: String, namespace: String) {
        self.name = name
        self.namespace = namespace
    }

    /// ``bytes`` as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The first child of a name.
    package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }
}

/// Reads XML that nobody vouches for (expat): a document type is refused, and with it every entity; depth, elements and text are
/// limited.
package final class XMLReader {
    /// How much of it is taken.
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

    private init?(_ limits: Limits) {
        // A space can be in no name.
        guard let parser = XML_ParserCreateNS(nil, XML_Char(UInt8(ascii: " "))) else { return nil }
        self.parser = parser
        self.limits = limits
    }

    deinit { XML_ParserFree(parser) }

    /// The document's element; nil for what is no document, or none within the limits.
    package static func read(_ bytes: [UInt8], _ limits: Limits = Limits()) -> XMLElement? {
        guard bytes.count <= limits.bytes, let count = Int32(exactly: bytes.count), let reader = XMLReader(limits)
        else {
            return nil
        }
        return reader.read(bytes, count)
    }

    private func read(_ bytes: [UInt8], _ count: Int32) -> XMLElement? {
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
        let status = bytes.withUnsafeBytes { buffer in
            XML_Parse(parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count, 1)
        }
        return status == XML_STATUS_OK && !isRefused ? root : nil
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
        if !isRefused { _ = open.popLast() }
    }
}
