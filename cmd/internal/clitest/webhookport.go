package clitest

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// SetFreeWebhookPort lets a project's manager serve webhooks on a port that is free until the test ends, and returns the
// port. Few ports are used, so that the manager is cached; see BuildProgram. They are below the range from which systems
// assign ports.
func SetFreeWebhookPort(t *testing.T, dir string) int {
	t.Helper()
	locks, err := cacheDir("locks")
	if err != nil {
		t.Fatal(err)
	}
	for port := 20100; port < 20200; port++ {
		lock := flock.New(filepath.Join(locks, fmt.Sprintf("port-%d", port)))
		if locked, err := lock.TryLock(); err != nil {
			t.Fatal(err)
		} else if !locked {
			continue
		}
		t.Cleanup(func() { _ = lock.Unlock() }) // the end of the process unlocks it, too
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		name, old, text := filepath.Join(dir, "cmd", "main.go"), "webhook.DefaultPort", fmt.Sprint(port)
		if !strings.Contains(ReadFile(t, name), old) { // an older scaffold
			old, text = "webhook.Options{", fmt.Sprintf("webhook.Options{Port: %d, ", port)
		}
		Substitute(t, name, old, text)
		return port
	}
	t.Fatal("no free port")
	return 0
}
