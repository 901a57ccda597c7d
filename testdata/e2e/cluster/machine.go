package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// packages maps the programs that a node needs to the packages that Debian has them in.
func packages() []struct{ program, pkg string } {
	return []struct{ program, pkg string }{
		{"containerd", "containerd"},
		{"runc", "runc"},
		{"/usr/lib/cni/bridge", "containernetworking-plugins"},
		{"iptables", "iptables"},
		{"ipset", "ipset"},
		{"ip", "iproute2"},
		{"mount", "mount"},
	}
}

// PrepareMachine installs what a node needs, or tells what is missing.
func PrepareMachine(ctx context.Context, p *Progress) error {
	if runtime.GOOS != "linux" {
		return errors.New("a node of its own needs Linux: set KUBECONFIG to a cluster to use instead")
	}
	if os.Geteuid() != 0 {
		return errors.New("a node of its own needs root: run as root, or set KUBECONFIG to a cluster to use instead")
	}
	missing := missingPackages()
	if len(missing) == 0 {
		return nil
	}
	list := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("a node of its own needs %s: install them, or set KUBECONFIG to a cluster to use instead", list)
	}
	p.Say("installing " + list + " with apt-get, once")
	// A list of packages that was never fetched, or long ago, has none or old ones.
	for _, args := range [][]string{
		{"update"},
		append([]string{"install", "-y", "--no-install-recommends"}, missing...),
	} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("installing %s: apt-get %s: %w\n%s", list, args[0], err, out)
		}
	}
	if missing := missingPackages(); len(missing) > 0 {
		return fmt.Errorf("%s did not bring what a node needs into PATH (%s)", strings.Join(missing, " "), os.Getenv("PATH"))
	}
	p.Done("packages of the system")
	return nil
}

func missingPackages() []string {
	var missing []string
	for _, need := range packages() {
		if _, err := exec.LookPath(need.program); err != nil {
			missing = append(missing, need.pkg)
		}
	}
	return missing
}
