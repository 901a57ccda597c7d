package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// processesOf names the processes that were started from, or keep data in, a folder.
func processesOf(dir string) (names []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // on other systems there are none
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(dir)) {
			name, _, _ := strings.Cut(string(line), "\x00")
			names = append(names, filepath.Base(name))
		}
	}
	return names
}

// nothingRuns holds that no process of a folder is left, within a time.
func nothingRuns(t *testing.T, dir string, within time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		names := processesOf(dir)
		if len(names) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("still running: %v", names)
			return
		}
	}
}
