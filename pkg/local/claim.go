package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/userstate"
)

// A claim is the right of a process to be the run of a project that has a name, which is empty for the usual one. It is a locked file
// in the user's state directory, which the system releases when the process ends.
type claim struct {
	root, state, name string
	lock              *flock.Flock
}

// A claimant is the content of the file, after its first byte, which is locked on Windows and cannot be read there.
type claimant struct {
	PID int `json:"pid"`
}

var validName = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)

// IsValidName reports whether Options.Name can be name: at most 40 lower case letters, digits and dashes.
func IsValidName(name string) bool { return name == "" || validName.MatchString(name) }

// claimRun claims the run of a project. The error names the process that has it.
func claimRun(stateDirs []string, root, name string) (*claim, error) {
	for range 10 { // the directory can be removed by a command that ends
		state, err := userstate.Make(stateDirs, root)
		if err != nil {
			return nil, err
		}
		c := &claim{root: root, state: state, name: name}
		c.lock = flock.New(filepath.Join(state, c.file("run")), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		locked, err := c.lock.TryLock()
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case errors.Is(err, errors.ErrUnsupported):
			return c, nil // without locks, the second run replaces the first one
		case err != nil:
			return nil, fmt.Errorf("claiming the run of this project: %w", err)
		case !locked:
			return nil, c.taken()
		}
		if held, err := c.lock.Stat(); err == nil {
			if named, err := os.Lstat(c.lock.Path()); err == nil && os.SameFile(held, named) {
				c.writeClaimant()
				return c, nil
			}
		}
		_ = c.lock.Close()
	}
	return nil, errors.New("claiming the run of this project: other commands keep changing its state directory; run it again")
}

// file returns the name of a file of this run.
func (c *claim) file(name string) string {
	if c.name == "" {
		return name
	}
	return name + "-" + c.name
}

// kubeconfig returns the path of the kubeconfig in the project, relative to the root.
func (c *claim) kubeconfig() string { return copyDir + "/" + c.file(kubeconfigFile) }

func (c *claim) writeClaimant() {
	data, err := json.Marshal(claimant{PID: os.Getpid()})
	if err != nil {
		return
	}
	if file, err := os.OpenFile(c.lock.Path(), os.O_RDWR, 0o600); err == nil {
		_, _ = file.WriteAt(append(data, '\n'), 1) // for a message only
		_ = file.Close()
	}
}

// taken returns the error for a run that another process has claimed.
func (c *claim) taken() error {
	other, process := claimant{}, "another process"
	if file, err := os.Open(c.lock.Path()); err == nil {
		_ = json.NewDecoder(io.NewSectionReader(file, 1, 1024)).Decode(&other) // for a message only
		_ = file.Close()
	}
	if other.PID > 0 {
		process = fmt.Sprintf("process %d", other.PID)
	}
	if c.name != "" {
		return fmt.Errorf("%s already runs %q of the project in %s; stop it, or use another --name", process, c.name, c.root)
	}
	return fmt.Errorf("%s already runs the project in %s; stop it, or give this run its own name and control plane with --name", process, c.root)
}

func (c *claim) release() {
	if runtime.GOOS == "windows" { // where open files cannot be removed
		_ = c.lock.Close()
		_ = os.Remove(c.lock.Path())
	} else {
		_ = os.Remove(c.lock.Path())
		_ = c.lock.Close()
	}
	_ = os.Remove(c.state) // unless it contains other files
}
