package tempdir

import (
	"fmt"
	"os"
	"path/filepath"
)

// goVariable is the variable that names the directory for the temporary files of the go command.
const goVariable = "GOTMPDIR"

// goDir is the name of that directory in a Dir.
const goDir = "go"

// NewGo creates a directory for a go command that runs with Variable. On Linux, when this process ends, for any reason, all
// processes with that variable are killed and the directory is removed. On other systems a later New or Sweep removes it.
func NewGo(parent string) (*Dir, error) {
	d, err := New(parent, "go")
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(d.Path, goDir), 0o700); err != nil {
		_ = d.Remove()
		return nil, fmt.Errorf("creating a temporary directory: %w", err)
	}
	d.release = guard(d.Path)
	return d, nil
}

// Variable returns the environment variable NAME=VALUE for the go command.
func (d *Dir) Variable() string { return goVariable + "=" + filepath.Join(d.Path, goDir) }
