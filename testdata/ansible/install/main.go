// Package main installs the Ansible that tests run, unless it is installed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"

	"github.com/operon-sdk/operon/testdata/ansible"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	missing := ansible.Check(ctx)
	if missing == nil {
		return nil
	}
	if runtime.GOOS != "linux" {
		fmt.Printf("==> tests that run Ansible will be skipped:\n%v\n", missing)
		return nil
	}
	list := strings.Join(ansible.Packages(), " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("the tests run Ansible:\n%w", missing)
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("the tests run Ansible:\n%w\nrun 'make ansible' as root, or 'apt-get install --no-install-recommends %s'", missing, list)
	}
	fmt.Printf("==> installing %s with apt-get (once: 1 to 3 minutes)\n", list)
	for _, args := range [][]string{
		// A list of packages that was never fetched, or is old, has none or missing ones.
		{"update", "--quiet=2"},
		append([]string{"install", "--yes", "--quiet=2", "--no-install-recommends", "--option", "Dpkg::Use-Pty=0", "--option", "DPkg::Lock::Timeout=120"}, ansible.Packages()...),
	} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("installing %s: apt-get %s: %w", list, args[0], err)
		}
	}
	if err := ansible.Check(ctx); err != nil {
		return errors.Join(errors.New("the packages of this system do not suffice; is another Ansible in PATH before /usr/bin?"), err)
	}
	return nil
}
