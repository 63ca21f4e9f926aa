import Foundation
import ReplicaControl
import S3Store
import SystemPackage
import Testing
import WebDAVStore

/// replica-stores(7) lists the options of the stores' URLs that the stores declare, no more and no less, and so do the messages about
/// others.
@Suite struct StorePageTests {
    private static func declared(_ names: some Sequence<String>) -> [String: Bool] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, false) })
    }

    @Test func theOptionsOfABucketAreDocumented() throws {
        let names = S3Address.Option.allCases.map(\.rawValue)
        let section = ".Ss s3://bucket/folder?name=value"
        #expect(try ManualTests.listed(in: section, of: "replica-stores.7") == Self.declared(names))
        let refusal = #expect(throws: S3Address.Invalid.self) { try S3Address("bucket?frob=1") }
        for name in names { #expect(refusal?.description.contains(name) == true, "\(name)") }
    }

    @Test func theOptionsOfAWebDAVFolderAreDocumented() throws {
        let names = WebDAVAddress.Option.allCases.map(\.rawValue)
        let section = ".Ss davs://[user@]host[:port]/path?name=value"
        #expect(try ManualTests.listed(in: section, of: "replica-stores.7") == Self.declared(names))
        let refusal = #expect(throws: WebDAVAddress.Invalid.self) {
            try WebDAVAddress("server/?frob=1", isSecure: true)
        }
        for name in names { #expect(refusal?.description.contains(name) == true, "\(name)") }
    }

    /// A page lists the schemes that have a store here, and the folders that programs are searched in.
    @Test func everyKindOfStoreIsDocumented() throws {
        let page = try ManualTests.page("replica-stores.7")
        let sections = page.filter { $0.hasPrefix(".Ss ") }.map { String($0.dropFirst(4).prefix { $0 != ":" }) }
        #expect(sections == ["file", "sftp", "s3", "davs", "rclone", "NAME"])
        for folder in StoreProgramSearch.system {
            #expect(page.contains { $0.hasPrefix(".Pa \(folder.string)") }, "\(folder)")
        }
    }
}
