extension ItemTemplate {
    /// Rejects names that the store declares it can't keep.
    func checkName(fields: ItemFields, _ properties: StoreProperties) throws(RemoteStoreError) {
        let longest = properties.longestName
        guard fields.contains(.filename), filename.bytes.count > longest else { return }
        throw .cannotSynchronize("the store accepts names of at most \(longest) bytes")
    }
}
