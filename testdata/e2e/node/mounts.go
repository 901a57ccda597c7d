//go:build linux

package node

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// sysctls are the settings of the whole machine that kubelet insists on. It finds them in files that are mounted
// over the real ones, so that the machine keeps its own.
func sysctls() map[string]string {
	return map[string]string{
		"vm/overcommit_memory":      "1",
		"vm/panic_on_oom":           "0",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/keys/root_maxbytes": "25000000",
	}
}

// mountInside gives the node its own view of the file system: folders in which daemons keep state are its own,
// all others are the machine's. From here on, the node's folder is insideDir.
func mountInside(s settings) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts private: %w", err)
	}
	// The folders may lie below one that gets another mounted over it.
	home, err := os.Open(s.HostDir)
	if err != nil {
		return err
	}
	defer func() { _ = home.Close() }()
	assets, err := os.Open(s.Assets)
	if err != nil {
		return err
	}
	defer func() { _ = assets.Close() }()
	programs, err := os.Open(s.Programs)
	if err != nil {
		return err
	}
	defer func() { _ = programs.Close() }()

	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mounting /run: %w", err)
	}
	for _, b := range []struct {
		from *os.File
		to   string
	}{{home, insideDir}, {assets, assetsDir}, {programs, programsDir}} {
		if err := os.Mkdir(b.to, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", b.from.Fd()), b.to, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", b.to, err)
		}
	}
	for _, dir := range []string{"/var/lib", "/var/log"} {
		own := filepath.Join(insideDir, dir)
		if err := os.MkdirAll(own, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(own, dir, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", dir, err)
		}
	}
	for name, value := range sysctls() {
		own := filepath.Join(insideDir, "sysctl", name)
		if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(own, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(own, filepath.Join("/proc/sys", name), "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting over the setting %s: %w", name, err)
		}
	}
	return nil
}
