//go:build !linux

// Fresh needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "error: a fresh machine needs Linux: namespaces and overlays")
	os.Exit(1)
}
