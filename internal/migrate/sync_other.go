//go:build !unix

package migrate

// syncDirectory does nothing: directories cannot be synchronised there.
func syncDirectory(string) error { return nil }
