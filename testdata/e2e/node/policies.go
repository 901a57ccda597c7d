//go:build linux

package node

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// startPolicies starts what enforces network policies, and returns when its rules are there.
func startPolicies(ctx context.Context, s settings, ended chan<- error) error {
	gone, err := startDaemon(s, "policies", exec.Command(filepath.Join(programsDir, "policies"),
		"--kubeconfig="+filepath.Join(s.Dir, kubeconfigFile), "--hostname-override="+s.Name, "--service-cluster-ip-range="+serviceRange), ended)
	if err != nil {
		return err
	}
	return poll(ctx, time.Minute, gone, func() error {
		if out, err := exec.CommandContext(ctx, "iptables", "--wait", "--list", "KUBE-ROUTER-FORWARD").CombinedOutput(); err != nil {
			return fmt.Errorf("iptables: %w: %s", err, out)
		}
		return nil
	})
}
