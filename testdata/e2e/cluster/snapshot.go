package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/operon-sdk/operon/testdata/e2e/node"
)

// cgroups is where control groups are.
const cgroups = "/sys/fs/cgroup"

// Snapshot is what a cluster could leave on a machine, by kind.
type Snapshot map[string][]string

// TakeSnapshot notes the machine's mounts, network devices, addresses, routes, packet filter rules, settings and
// control groups, and what is in dirs. What belongs to nodes is left out, save to the one called name: there may be
// others on the machine that come and go.
func TakeSnapshot(ctx context.Context, name string, dirs ...string) (Snapshot, error) {
	s := Snapshot{}
	for kind, command := range map[string][]string{
		"network devices": {"ip", "-o", "link"},
		"addresses":       {"ip", "-o", "address"},
		"routes":          {"ip", "route", "show", "table", "all"},
		"IPv4 rules":      {"iptables-save"},
		"IPv6 rules":      {"ip6tables-save"},
	} {
		out, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
		if err != nil {
			return nil, fmt.Errorf("noting the %s: %w", kind, err)
		}
		s[kind] = ownLines(string(out))
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	s["mounts"] = ownLines(string(mounts))
	for _, name := range []string{"net/ipv4/ip_forward", "vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops"} {
		value, err := os.ReadFile(filepath.Join("/proc/sys", name))
		if err != nil {
			return nil, err
		}
		s["settings"] = append(s["settings"], name+"="+strings.TrimSpace(string(value)))
	}
	for _, dir := range append(dirs, cgroups) {
		if s[dir], err = folders(dir); err != nil {
			return nil, err
		}
	}
	// Whoever starts programs may give them groups.
	s[cgroups] = slices.DeleteFunc(s[cgroups], func(line string) bool { return !node.Belongs(line) })
	for kind, lines := range s {
		s[kind] = slices.DeleteFunc(lines, func(line string) bool { return node.Belongs(line) && !node.BelongsTo(line, name) })
	}
	return s, nil
}

// ownLines are the lines of an output without what changes by itself: comments, counters and times.
func ownLines(out string) []string {
	var kept []string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, ":") { // a chain with its counters
			line, _, _ = strings.Cut(line, "[")
		}
		if i := strings.Index(line, "valid_lft"); i >= 0 {
			line = line[:i]
		}
		kept = append(kept, strings.TrimSpace(line))
	}
	return kept
}

// folders lists the folders below dir, and the files in it.
func folders(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went away meanwhile, or was never there
		}
		if err == nil && (entry.IsDir() || filepath.Dir(path) == dir) && path != dir {
			found = append(found, path)
		}
		return err
	})
	return found, err
}

// Diff tells what is different in another snapshot, as a unified diff; empty is nothing.
func (s Snapshot) Diff(other Snapshot) string {
	var b strings.Builder
	kinds := map[string]bool{}
	for kind := range s {
		kinds[kind] = true
	}
	for kind := range other {
		kinds[kind] = true
	}
	var sorted []string
	for kind := range kinds {
		sorted = append(sorted, kind)
	}
	slices.Sort(sorted)
	for _, kind := range sorted {
		b.Write(diff.Diff(kind+" before", joined(s[kind]), kind+" after", joined(other[kind])))
	}
	return b.String()
}

func joined(lines []string) []byte {
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// ProcessesOf are the command lines of the processes of a node: those in its own namespaces, as Node.Namespaces tells
// them, and those in its control groups, which containers are in.
func ProcessesOf(name string, namespaces []string) []string {
	var found []string
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, process := range processes {
		groups, _ := os.ReadFile(filepath.Join(process, "cgroup")) // the process may be gone
		if !bytes.Contains(groups, []byte(name)) && !slices.Equal(node.NamespacesOf(process), namespaces) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		found = append(found, filepath.Base(process)+" "+strings.ReplaceAll(string(command), "\x00", " "))
	}
	slices.Sort(found)
	return found
}
