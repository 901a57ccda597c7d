package cluster

import (
	"os"
	"path/filepath"
	"strings"
)

// shownLines is how many of each log are shown when something is wrong.
const shownLines = 15

// lastLogs are the last lines of the logs of the node's processes.
func (c *Cluster) lastLogs() string {
	files, _ := filepath.Glob(filepath.Join(c.Logs, "*.log"))
	var b strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		b.WriteString("\n--- " + filepath.Base(file) + "\n")
		b.WriteString(strings.Join(lines[max(0, len(lines)-shownLines):], "\n"))
	}
	return b.String()
}
