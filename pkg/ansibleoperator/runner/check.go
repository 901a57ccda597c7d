package runner

import (
	"context"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/ansibletool"
)

// Check returns the Ansible that a Runner with this configuration would use. The error is diag.Findings with all programs that are
// missing or too old.
func Check(ctx context.Context, config Config) (*ansibletool.Machine, error) {
	e := readEnvironment(config)
	machine, err := ansibletool.Inspect(ctx, func(ctx context.Context, name string, args ...string) ([]byte, error) {
		path := name
		if !filepath.IsAbs(name) {
			if path = e.lookPath(name); path == "" {
				return nil, fs.ErrNotExist
			}
		}
		output := &tail{limit: 2048}
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = e.dir, e.runEnviron(nil), output, time.Second
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(append([]string{name}, args...), " "), err, plain(output.String()))
		}
		return out, nil
	}, e.virtualPython())
	if err != nil {
		return machine, err
	}
	if findings := machine.CheckPrograms(); len(findings) > 0 {
		return machine, findings
	}
	return machine, nil
}
