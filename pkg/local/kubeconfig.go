package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/operon-sdk/operon/pkg/diag"
)

// KubeconfigFile is the kubeconfig of a control plane that runs for a project, relative to the project's root.
const KubeconfigFile = stateDir + "/kubeconfig"

const (
	stateDir   = ".operon"
	ignoreFile = stateDir + "/.gitignore"
	// ignored keeps the kubeconfig out of git in projects whose own .gitignore does not.
	ignored = "# Written by run local, which removes it when it stops.\n/.gitignore\n/kubeconfig\n"
)

// writeKubeconfig writes KubeconfigFile of the project at root, which only the current user can read and git ignores. It
// replaces that of another run, which may have been killed.
func writeKubeconfig(root string, kubeconfig []byte) error {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("writing %s: %w", KubeconfigFile, err)
	}
	defer func() { _ = dir.Close() }()
	if err := dir.Mkdir(stateDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("writing %s: %w", KubeconfigFile, diag.Cause(err))
	}
	if err := createFile(dir, ignoreFile, []byte(ignored), 0o644); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("writing %s: %w", ignoreFile, diag.Cause(err))
	}
	if err := dir.Remove(KubeconfigFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("writing %s: %w", KubeconfigFile, diag.Cause(err))
	}
	if err := createFile(dir, KubeconfigFile, kubeconfig, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", KubeconfigFile, diag.Cause(err))
	}
	return nil
}

func createFile(dir *os.Root, name string, data []byte, mode fs.FileMode) error {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// removeKubeconfig removes what writeKubeconfig has written, unless another run has replaced it since. The project can be
// gone.
func removeKubeconfig(root string, kubeconfig []byte) error {
	dir, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing %s: %w", KubeconfigFile, err)
	}
	defer func() { _ = dir.Close() }()
	for _, file := range []struct {
		name string
		data []byte
	}{{KubeconfigFile, kubeconfig}, {ignoreFile, []byte(ignored)}} {
		written, err := dir.ReadFile(file.name)
		if err == nil && !bytes.Equal(written, file.data) {
			return nil
		}
		if err == nil {
			err = dir.Remove(file.name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing %s: %w", file.name, diag.Cause(err))
		}
	}
	_ = dir.Remove(stateDir) // unless it contains other files
	return nil
}
