// Package ansible provides the Ansible that tests run: the programs ansible-playbook and ansible-runner, the Python client for
// Kubernetes and the collection kubernetes.core. Its program install, which make ansible runs, installs Debian's packages of them.
package ansible

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/operon-sdk/operon/pkg/ansibletool"
)

// Packages returns the packages of Debian and Ubuntu.
func Packages() []string {
	return []string{"ansible", "python3-ansible-runner", "python3-kubernetes"}
}

// Require provides Ansible for a test. Systems other than Linux need not have it, so that the test is skipped there.
func Require(t testing.TB) {
	t.Helper()
	err := installed()
	if err != nil && runtime.GOOS != "linux" {
		t.Skipf("Ansible is optional on %s: %v", runtime.GOOS, err)
	}
	if err != nil {
		t.Fatalf("%v\nrun 'make ansible', which installs Ansible where it can", err)
	}
	if err := opened(); err != nil {
		t.Fatal(err)
	}
}

// opened opens what Ansible may read: the testdata of the test's package, and the collections for tests. go test repeats the result of a
// package while the files that the test itself has opened are the same.
var opened = sync.OnceValue(func() error {
	dirs := []string{"testdata"}
	for top := "."; len(top) < 64; top = filepath.Join(top, "..") { // tests run in the directory of their package
		dirs = append(dirs, filepath.Join(top, "testdata", "ansible", "collections"))
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				_, err = os.ReadFile(name)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
})

// installed returns what is missing as an error.
var installed = sync.OnceValue(func() error { return Check(context.Background()) })

// Check returns what is missing on this machine as an error.
func Check(ctx context.Context) error {
	m, err := ansibletool.Inspect(ctx, run, "")
	if err == nil {
		err = m.ReadCollections(ctx, run)
	}
	if err != nil {
		return err
	}
	findings := slices.Concat(m.CheckPrograms(), m.CheckPackages())
	if len(findings) == 0 && m.Collections["kubernetes.core"] == "" {
		findings.Add("collection kubernetes.core", "", "not found; run 'ansible-galaxy collection install kubernetes.core'")
	}
	return findings.Err()
}

// run is an ansibletool.Run for the programs in PATH.
func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	var out, errOut bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	return out.Bytes(), nil
}
