internal import CFuse
internal import Glibc

extension Reply where Answer == Entry {
    /// Answers the request.
    public consuming func send(_ entry: Entry) {
        var parameters = entry.parameters
        fuse_reply_entry(request, &parameters)
        finish()
    }
}

extension Reply where Answer == Attributes {
    /// Answers with attributes that stay valid for `timeout` seconds.
    public consuming func send(_ attributes: Attributes, timeout: Double) {
        var status = attributes.status
        fuse_reply_attr(request, &status, timeout)
        finish()
    }
}

extension Reply where Answer == BirthStatus {
    /// Answers the request.
    public consuming func send(_ status: BirthStatus) {
        var basic = status.attributes.status
        if var birth = status.birth {
            cfuse_reply_statx(request, &basic, &birth, status.timeout)
        } else {
            cfuse_reply_statx(request, &basic, nil, status.timeout)
        }
        finish()
    }
}

extension Reply where Answer == Void {
    /// Answers the request.
    public consuming func succeed() {
        fuse_reply_err(request, 0)
        finish()
    }
}

extension Reply where Answer == OpenedFile {
    /// - Returns: false if the open did not reach its caller (a signal, the end of the mount). There will be no
    ///   `release`; the filesystem must close the file itself.
    @discardableResult
    public consuming func send(_ file: OpenedFile) -> Bool {
        let result = cfuse_reply_open(request, file.handle, file.rawFlags, file.backing?.rawValue ?? 0)
        finish()
        return result == 0
    }
}

extension Reply where Answer == (Entry, OpenedFile) {
    /// - Returns: false if the open did not reach its caller: there will be no `release` and no `forget`.
    @discardableResult
    public consuming func send(_ entry: Entry, _ file: OpenedFile) -> Bool {
        var parameters = entry.parameters
        let backing = file.backing?.rawValue ?? 0
        let result = cfuse_reply_create(request, &parameters, file.handle, file.rawFlags, backing)
        finish()
        return result == 0
    }
}

extension Reply where Answer == Statistics {
    /// Answers the request.
    public consuming func send(_ statistics: Statistics) {
        var status = statistics.status
        fuse_reply_statfs(request, &status)
        finish()
    }
}

extension Reply where Answer == FileLock {
    /// Answers the conflicting lock, or one of type F_UNLCK.
    public consuming func send(_ lock: FileLock) {
        var range = lock.range
        fuse_reply_lock(request, &range)
        finish()
    }
}

extension Reply where Answer == LinkTarget {
    /// - Parameter target: terminated by NUL; at most PATH_MAX - 1 bytes.
    public consuming func send(_ target: UnsafePointer<CChar>) {
        fuse_reply_readlink(request, target)
        finish()
    }
}

extension Reply where Answer == FileData {
    /// Answers bytes; fewer than requested mean the end of the file. They are copied before this returns.
    public consuming func send(_ bytes: UnsafeRawBufferPointer) {
        fuse_reply_buf(request, bytes.assumingMemoryBound(to: CChar.self).baseAddress, bytes.count)
        finish()
    }

    /// Answers bytes; fewer than requested mean the end of the file.
    public consuming func send(_ bytes: [UInt8]) {
        fuse_reply_buf(request, bytes, bytes.count)
        finish()
    }

    /// Answers up to `count` bytes of an open file at `offset`, without a copy if splice(2) is available.
    /// If reading fails, the error is answered. The descriptor may be closed after this returns.
    public consuming func send(descriptor: Int32, offset: Int64, count: Int) {
        cfuse_reply_file(request, descriptor, offset, count)
        finish()
    }
}

extension Reply where Answer == ByteCount {
    /// Answers how many bytes were written. If it is fewer than requested, the rest is lost without an error: write all.
    public consuming func send(_ count: Int) {
        fuse_reply_write(request, count)
        finish()
    }
}

extension Reply where Answer == DirectoryListing {
    /// Answers entries; an empty buffer means the end.
    public consuming func send(_ entries: borrowing DirectoryBuffer) {
        fuse_reply_buf(request, entries.base, entries.count)
        finish()
    }
}

extension Reply where Answer == AttributeValue {
    /// Answers a value: only its size if `size`, the size of the caller's buffer, is 0; ERANGE if it is too small.
    public consuming func send(_ value: UnsafeRawBufferPointer, size: Int) {
        if size == 0 {
            fuse_reply_xattr(request, value.count)
        } else if value.count > size {
            fuse_reply_err(request, ERANGE)
        } else {
            fuse_reply_buf(request, value.assumingMemoryBound(to: CChar.self).baseAddress, value.count)
        }
        finish()
    }

    /// Answers a value: only its size if `size`, the size of the caller's buffer, is 0; ERANGE if it is too small.
    public consuming func send(_ value: [UInt8], size: Int) {
        if size == 0 {
            fuse_reply_xattr(request, value.count)
        } else if value.count > size {
            fuse_reply_err(request, ERANGE)
        } else {
            fuse_reply_buf(request, value, value.count)
        }
        finish()
    }

    /// Answers only the size of a value in bytes.
    public consuming func send(length: Int) {
        fuse_reply_xattr(request, length)
        finish()
    }
}

extension Reply where Answer == ControlAnswer {
    /// Answers that the call succeeded.
    /// - Parameter bytes: The result; at most the maximum size of the answer.
    public consuming func send(_ bytes: [UInt8]) {
        fuse_reply_ioctl(request, 0, bytes, bytes.count)
        finish()
    }
}

extension Reply where Answer == FileOffset {
    /// Answers the request.
    public consuming func send(_ offset: Int64) {
        fuse_reply_lseek(request, Int(offset))
        finish()
    }
}
