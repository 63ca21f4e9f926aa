/// An element of an XML document, with its contents.
package final class XMLElement {
    /// Without its namespace.
    package let name: String
    package let namespace: String
    package internal(set) var children: [XMLElement] = []
    /// Its own text, in UTF-8.
    package internal(set) var bytes: [UInt8] = []

    init(name: String, namespace: String) {
        self.name = name
        self.namespace = namespace
    }

    /// ``bytes`` as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The first child with this name.
    package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }
}
