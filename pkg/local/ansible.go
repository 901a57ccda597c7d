package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/ansibletool"
	"github.com/operon-sdk/operon/pkg/project"
)

// Ansible is what runs of a project's roles need on this machine.
type Ansible struct {
	// Root is the directory of the project in FS.
	Root   string
	FS     afero.Fs
	Getenv func(string) string
	// Run runs a program of Ansible with more variables, in a directory without ansible.cfg, as the operator does. The error is
	// fs.ErrNotExist if the program is not found.
	Run func(ctx context.Context, variables []string, out, errOut io.Writer, name string, args ...string) error
	// Slow runs a step, and reports its description if it takes long.
	Slow func(description string, step func() error) error
	// Notef prints a note.
	Notef func(format string, args ...any)
}

// Environ returns the variables with the directories that Ansible searches for roles and collections: the project's, and then
// the user's.
func (a *Ansible) Environ() []string {
	const roles, collections = "ANSIBLE_ROLES_PATH", "ANSIBLE_COLLECTIONS_PATH"
	list := func(paths ...string) string {
		return strings.Join(slices.DeleteFunc(paths, func(p string) bool { return p == "" }), string(filepath.ListSeparator))
	}
	environ := []string{roles + "=" + list(filepath.Join(a.Root, project.RolesDir), a.Getenv(roles))}
	vendored := filepath.Join(a.Root, project.CollectionsDir)
	if info, err := a.FS.Stat(filepath.Join(vendored, ansibletool.CollectionsDir)); err != nil || !info.IsDir() {
		return environ
	}
	// The plural is the old name of the variable. The default is Ansible's, which a value replaces.
	others := cmp.Or(a.Getenv(collections), a.Getenv(collections+"S"), list("~/.ansible/collections", "/usr/share/ansible/collections"))
	return append(environ, collections+"="+list(vendored, others))
}

// Check returns an error if this machine lacks what runs of a project's roles need. Missing collections that no file of the
// project mentions, and other versions than those in the requirements file, are reported as notes.
func (a *Ansible) Check(ctx context.Context) error {
	var machine *ansibletool.Machine
	err := a.Slow("reading the versions of Ansible", func() (err error) {
		machine, err = ansibletool.Inspect(ctx, a.run, ansibletool.VirtualPython(a.Getenv("VIRTUAL_ENV"), a.FS.Stat))
		if err != nil || machine.Core == "" {
			return err
		}
		return machine.ReadCollections(ctx, a.run)
	})
	if err != nil {
		return err
	}
	findings := slices.Concat(machine.CheckPrograms(), machine.CheckPackages())
	if machine.Core == "" {
		return findings.Err() // without Ansible, no collections are found
	}
	files := afero.NewIOFS(afero.NewBasePathFs(a.FS, a.Root))
	required, err := ansibletool.ReadRequirements(files)
	if err != nil {
		return err
	}
	var notes []string
	for _, r := range required {
		missing, other := machine.CheckCollections([]ansibletool.Requirement{r})
		switch {
		case len(missing) > 0 && !ansibletool.Uses(files, r.Name):
			notes = append(notes, fmt.Sprintf("%s lists the collection %s, which is not installed; no role or playbook mentions it by its full name", ansibletool.RequirementsFile, r.Name))
		case len(missing) > 0:
			findings = append(findings, missing...)
		case len(other) > 0:
			notes = append(notes, other.Error())
		}
	}
	if len(findings) > 0 {
		return findings
	}
	for _, note := range notes {
		a.Notef("note: %s", note)
	}
	return nil
}

// run is an ansibletool.Run for the project.
func (a *Ansible) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	var out, errOut bytes.Buffer
	err := a.Run(ctx, a.Environ(), &out, &errOut, name, args...)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, lastLine(errOut.String()))
	}
	return out.Bytes(), err
}

// lastLine returns the last line of a text, where Python's traces have the error.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}
