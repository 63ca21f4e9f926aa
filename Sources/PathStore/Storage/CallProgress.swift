/// How a call that takes long tells that it is at work: a storage that is a process is not silent then.
package enum CallProgress {
    /// Set by who serves calls for a call and the tasks that it has.
    @TaskLocal package static var note: (@Sendable () -> Void)?
}
