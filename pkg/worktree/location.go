package worktree

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/userstate"
)

// A Location is where a project's files are, and where this machine records which command changes them.
type Location struct {
	FS afero.Fs
	// Root is the absolute path of the project's directory.
	Root string
	// StateDirs are the candidates for the user's state directory, as of userstate.Dirs. File systems other than the operating
	// system's, such as in tests, keep the records below the root.
	StateDirs []string
}

// disk returns the files of a location, without the state directory.
func (at Location) disk() disk { return disk{fs: at.FS, root: at.Root, stateFS: at.FS} }

// find returns the disk with the state directory, and whether that exists.
func (at Location) find() (d disk, exists bool, err error) {
	if _, err := at.FS.Stat(at.Root); errors.Is(err, fs.ErrNotExist) {
		return disk{}, false, nil
	}
	if d, err = at.withState(userstate.Find); err != nil {
		return disk{}, false, err
	}
	_, err = d.stateFS.Stat(d.state)
	if errors.Is(err, fs.ErrNotExist) {
		return d, false, nil
	}
	return d, err == nil, err
}

// prepare creates the state directory and returns the disk with it.
func (at Location) prepare() (disk, error) {
	d, err := at.withState(userstate.Make)
	if err == nil && !d.isReal() {
		err = d.fs.MkdirAll(d.state, userstate.Mode)
	}
	return d, err
}

func (at Location) withState(locate func(dirs []string, root string) (string, error)) (disk, error) {
	d := at.disk()
	if !d.isReal() {
		d.state = d.abs(operonDir + "/state")
		return d, nil
	}
	dir, err := locate(at.StateDirs, at.Root)
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := at.FS.Stat(at.Root); missing != nil {
			return d, errors.New("the project's directory does not exist")
		}
	}
	d.state = dir
	return d, err
}

// inState returns the path of a file in the state directory.
func (d disk) inState(name string) string { return filepath.Join(d.state, name) }

// readState returns the content of a file in the state directory, or nil if it does not exist.
func (d disk) readState(name string) ([]byte, error) {
	data, err := afero.ReadFile(d.stateFS, d.inState(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, explain("reading", d.inState(name), err)
	case data == nil:
		data = []byte{}
	}
	return data, nil
}

// writeState writes a file in the state directory, completely or not at all.
func (d disk) writeState(name, temp string, data []byte) error {
	if err := d.removeState(temp); err != nil {
		return err
	}
	err := create(d.stateFS, d.inState(temp), data, 0o600)
	if err == nil {
		err = d.stateFS.Rename(d.inState(temp), d.inState(name))
	}
	if err != nil {
		return explain("writing", d.inState(name), err)
	}
	return nil
}

// removeState removes a file in the state directory, if it exists.
func (d disk) removeState(name string) error {
	if err := d.stateFS.Remove(d.inState(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain("removing", d.inState(name), err)
	}
	return nil
}
