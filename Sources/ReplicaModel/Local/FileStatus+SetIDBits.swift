internal import Glibc

extension FileStatus {
    /// The bits that a write by another user clears. As in the kernel (setattr_should_drop_suidgid), set-group-ID without
    /// execute permission for the group stays if the writer is in the group.
    func setIDThatGoes(_ mayKeep: (_ group: UInt32) -> Bool) -> UInt32 {
        guard kind == .file, hasSetID else { return 0 }
        let isKept = mode & UInt32(S_IXGRP) == 0 && mayKeep(group)
        return mode & UInt32(isKept ? S_ISUID : S_ISUID | S_ISGID)
    }
}
