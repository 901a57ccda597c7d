//go:build !unix

package codegen

// benchCommand returns nil: the benchmark requires a Unix system.
func benchCommand() func() int { return nil }
