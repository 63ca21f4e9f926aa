extension TransferLimits {
    /// The ranges of the parts of a content of this size.
    func parts(of size: Int64) -> [Range<Int64>] {
        let least = (size + MultipartUpload.mostParts - 1) / MultipartUpload.mostParts
        let mebibyte: Int64 = 1 << 20
        let length = part >= least ? part : (least + mebibyte - 1) / mebibyte * mebibyte
        return stride(from: 0, to: size, by: Int64.Stride(length)).map { $0..<min($0 + length, size) }
    }
}
