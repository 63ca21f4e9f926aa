// The tests of the module come with its bodies.
