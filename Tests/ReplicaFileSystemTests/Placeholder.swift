// Placeholder until the tests are here.
