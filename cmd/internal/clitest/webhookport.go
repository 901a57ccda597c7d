package clitest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"testing"
)

// SetFreeWebhookPort makes a project's manager serve webhooks on a free port, as tests run in parallel, and returns it.
// It is below the ports that systems assign to listeners without one.
func SetFreeWebhookPort(t *testing.T, dir string) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(10000)
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		Substitute(t, filepath.Join(dir, "cmd", "main.go"), "webhook.Options{", fmt.Sprintf("webhook.Options{Port: %d, ", port))
		return port
	}
	t.Fatal("no free port")
	return 0
}
