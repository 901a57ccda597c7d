package cmd

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/userstate"
)

// errNotTrusted is the error of a command that would run code of a project that the user doesn't trust.
var errNotTrusted = errors.New("nothing was run; read the code of the project first, and repeat the command")

// confirmCode asks once per project, at a terminal, whether its code may run as the user. Without a terminal it prints that it runs. Jobs
// of CI, which set CI, are not asked: they exist to run the project.
func (a *app) confirmCode(root string, yes bool) error {
	dirs := a.StateDirs()
	if ci := a.Getenv("CI"); ci != "" && ci != "false" || userstate.IsTrusted(dirs, root) {
		return nil
	}
	const what = "the code of this project, with your permissions and access to your files"
	switch {
	case yes:
	case a.InTerminal && (a.OutTerminal || a.ErrTerminal):
		ok, err := a.prompt().Confirm("This runs "+what+". Continue?", false)
		if err != nil {
			return err
		}
		if !ok {
			return errNotTrusted
		}
	default:
		a.print.Notef("note: this runs %s (reported once per project)", what)
	}
	return userstate.Trust(dirs, root)
}

// trustNew records that a project needs no confirmation, because a command creates it for the user.
func (a *app) trustNew(root string) {
	if !a.dryRun {
		_ = userstate.Trust(a.StateDirs(), root) // else 'run local' asks
	}
}

// isBare reports whether a directory, which need not exist, contains no code: nothing but hidden files and texts.
func isBare(e *Env, dir string) bool {
	entries, err := afero.ReadDir(e.FS, dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !slices.ContainsFunc(entries, func(e fs.FileInfo) bool {
		name := e.Name()
		return !strings.HasPrefix(name, ".") && filepath.Ext(name) != ".md" && name != "LICENSE"
	})
}
