// Placeholder until the module's own files are here.
