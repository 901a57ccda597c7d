package local

import (
	"os"
	"path/filepath"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

// reuse places the manager of an earlier run at the output path of go build, which links only if the result would
// differ. Linking takes as long as starting a control plane. A hard link is safe: go build replaces an existing file and does not write
// into it.
func (r *runner) reuse(binary string) {
	if r.o.Keep != "" {
		_ = controlplane.LinkOrCopy(r.o.Keep, binary) // on failure go build links
	}
}

// keep stores the manager for the next run.
func (r *runner) keep(binary string) {
	if r.o.Keep == "" {
		return
	}
	built, err := os.Stat(binary)
	if err != nil {
		return
	}
	if kept, err := os.Stat(r.o.Keep); err == nil && os.SameFile(kept, built) {
		return
	}
	// Another run may read the file at the same time.
	aside := filepath.Join(filepath.Dir(r.o.Keep), filepath.Base(r.workspace.Path)+"-"+filepath.Base(binary))
	if err := controlplane.LinkOrCopy(binary, aside); err == nil && os.Rename(aside, r.o.Keep) == nil {
		return
	}
	_ = os.Remove(aside)
}
