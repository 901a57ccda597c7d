package userstate

import (
	"os"
	"path/filepath"
)

// trustFile is the file in the state directory of a project whose code the user has run. It contains the path of the project.
const trustFile = "trusted"

// IsTrusted reports whether Trust was called for the project at root. As editors do, it asks for the path as well as for the directory:
// a file system can give the inode of a removed project to another one.
func IsTrusted(dirs []string, root string) bool {
	state, err := Find(dirs, root)
	if err != nil {
		return false
	}
	data, err := os.ReadFile(filepath.Join(state, trustFile))
	return err == nil && string(data) == realPath(root)
}

// Trust records that the user runs the code of the project at root.
func Trust(dirs []string, root string) error {
	var err error
	for range 10 { // a command that ends removes the directory of its project
		var state string
		if state, err = Make(dirs, root); err != nil {
			return err
		}
		if err = os.WriteFile(filepath.Join(state, trustFile), []byte(realPath(root)), 0o600); !os.IsNotExist(err) {
			return err
		}
	}
	return err
}

// realPath returns the path of a directory without symbolic links.
func realPath(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}
