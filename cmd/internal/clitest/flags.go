package clitest

import (
	"flag"
	"testing"
)

var (
	// Update is the flag -update: rewrite the golden trees and scripts with the current output.
	Update = flag.Bool("update", false, "rewrite golden trees and scripts with the current output")

	// Thorough is the flag -thorough: run the checks of the end of a sequence of commands after every command,
	// and kill commands at every write.
	Thorough = flag.Bool("thorough", false, "check more often: compile after every command, kill at every write")
)

// SkipIfShort skips a test in short mode. The reason describes the slow part.
func SkipIfShort(t *testing.T, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + reason)
	}
}
