package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operon-sdk/operon/pkg/diag"
)

// KubeconfigFile is a copy of the kubeconfig of a control plane that runs for a project, for other programs, relative to the project's
// root. Operon itself reads the one in the user's state directory: this one may have come with a clone, and a kubeconfig can
// contain programs to run.
const KubeconfigFile = copyDir + "/" + kubeconfigFile

const (
	copyDir        = ".operon"
	kubeconfigFile = "kubeconfig"
	ignoreFile     = copyDir + "/.gitignore"
	// ignored keeps the kubeconfigs out of git in projects whose own .gitignore does not.
	ignored = "# Written by run local, which removes it when it stops.\n/.gitignore\n/kubeconfig*\n"
)

// publish writes the kubeconfig to the state directory and to the project, where only the current user can read it and git ignores it.
// It replaces what a killed run left.
func (c *claim) publish(kubeconfig []byte) error {
	state, err := os.OpenRoot(c.state)
	if err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	defer func() { _ = state.Close() }()
	if err := replaceFile(state, c.file(kubeconfigFile), kubeconfig); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	name := c.kubeconfig()
	dir, err := os.OpenRoot(c.root)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer func() { _ = dir.Close() }()
	if err := dir.Mkdir(copyDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("writing %s: %w", name, diag.Cause(err))
	}
	if info, err := dir.Lstat(copyDir); err != nil || !info.IsDir() {
		return fmt.Errorf("writing %s: %s must be a directory; move it away", name, copyDir)
	}
	if err := createFile(dir, ignoreFile, []byte(ignored), 0o644); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("writing %s: %w", ignoreFile, diag.Cause(err))
	}
	if err := replaceFile(dir, name, kubeconfig); err != nil {
		return fmt.Errorf("writing %s: %w", name, diag.Cause(err))
	}
	return nil
}

// replaceFile writes a file that only the current user can read.
func replaceFile(dir *os.Root, name string, data []byte) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return createFile(dir, name, data, 0o600)
}

func createFile(dir *os.Root, name string, data []byte, mode fs.FileMode) error {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// withdraw removes what publish has written, unless another process has replaced it since. The project can be gone.
func (c *claim) withdraw(kubeconfig []byte) error {
	if err := os.Remove(filepath.Join(c.state, c.file(kubeconfigFile))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the kubeconfig: %w", err)
	}
	dir, err := os.OpenRoot(c.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	name := c.kubeconfig()
	if err != nil {
		return fmt.Errorf("removing %s: %w", name, err)
	}
	defer func() { _ = dir.Close() }()
	if err := removeWritten(dir, name, kubeconfig); err != nil {
		return err
	}
	if others, err := fs.Glob(dir.FS(), KubeconfigFile+"*"); err != nil || len(others) > 0 {
		return err
	}
	err = removeWritten(dir, ignoreFile, []byte(ignored))
	_ = dir.Remove(copyDir) // unless it contains other files
	return err
}

// removeWritten removes a file that has the given content.
func removeWritten(dir *os.Root, name string, data []byte) error {
	written, err := dir.ReadFile(name)
	if err == nil && bytes.Equal(written, data) {
		err = dir.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s: %w", name, diag.Cause(err))
	}
	return nil
}
