//go:build unix

package runlocal

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestRunLocalAddresses runs a Helm operator, whose manifests let it listen on all addresses of its pod, and expects all servers to listen on
// loopback addresses. TestRunLocal and TestRunLocalAnsible check the other layouts.
func TestRunLocalAddresses(t *testing.T) {
	t.Parallel()
	program, err := clitest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	dir := clitest.CopyGolden(t, "shop-operator")
	p := clitest.StartProcess(t, dir, []string{clitest.RuntimeVariable + "=" + program}, "run", "local", "--control-plane", "embedded")
	p.WaitFor("Starting workers", 1)
	checkAddresses(t, p)
	p.Interrupt()
	p.MustEnd(0)
}

// checkAddresses fails the test if a process or a descendant listens on an address that other machines can reach, except for a port of
// allowed. It checks nothing but on Linux.
func checkAddresses(t *testing.T, p *clitest.Process, allowed ...int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	sockets := map[string]bool{}
	for _, pid := range descendants(t, p.Cmd.Process.Pid) {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is valid
		for _, file := range files {
			if target, err := os.Readlink(file); err == nil { // else it was closed
				sockets[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
			}
		}
	}
	servers := 0
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		for line := range strings.Lines(clitest.ReadFile(t, table)) {
			fields := strings.Fields(line)
			const listening = "0A"
			if len(fields) < 10 || fields[3] != listening || !sockets[fields[9]] {
				continue
			}
			servers++
			ip, port := parseAddress(t, fields[1])
			if !ip.IsLoopback() && !slices.Contains(allowed, port) {
				t.Errorf("it listens on %s, port %d", ip, port)
			}
		}
	}
	if servers < 3 { // etcd, the API server, and at least one of the manager
		t.Errorf("only %d servers were found", servers)
	}
}

// descendants returns the IDs of a process and its descendants.
func descendants(t *testing.T, root int) []int {
	t.Helper()
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/status") // the pattern is valid
	for _, file := range files {
		status, err := os.Open(file)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		for scanner := bufio.NewScanner(status); scanner.Scan(); {
			if parent, ok := strings.CutPrefix(scanner.Text(), "PPid:\t"); ok {
				parents[pid], _ = strconv.Atoi(parent)
			}
		}
		_ = status.Close()
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		for pid, parent := range parents {
			if parent == all[i] {
				all = append(all, pid)
			}
		}
	}
	return all
}

// parseAddress parses an address and a port as the kernel prints them: words of four bytes, each in the order of the machine.
func parseAddress(t *testing.T, text string) (net.IP, int) {
	t.Helper()
	address, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	var ip net.IP
	for i := 0; i+8 <= len(address); i += 8 {
		for j := 6; j >= 0; j -= 2 {
			part, err := strconv.ParseUint(address[i+j:i+j+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			ip = append(ip, byte(part))
		}
	}
	return ip, int(number)
}
