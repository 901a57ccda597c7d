package gotool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// MissingError reports modules that a command needs and that are not in the module cache.
type MissingError struct {
	// Modules are path@version, sorted. The modules that those require in turn are not known.
	Modules []string
	// Remedy says what to do.
	Remedy string
}

func (e *MissingError) Error() string {
	count := "1 module"
	if len(e.Modules) != 1 {
		count = fmt.Sprintf("%d modules", len(e.Modules))
	}
	return fmt.Sprintf("the module cache lacks %s:\n  %s\n%s", count, strings.Join(e.Modules, "\n  "), e.Remedy)
}

// What the go command prints about a module that it cannot download.
var (
	downloading = regexp.MustCompile(`(?m)^go: downloading (\S+) (\S+)$`)
	notFound    = regexp.MustCompile(`([^\s"]+@v[^\s":]+): (?:module lookup disabled|verifying )`)
)

// missing lists the modules that text names and those that mod requires, as far as they are not in the module cache.
func (s settings) missing(mod []byte, text string) []string {
	var missing []string
	for _, m := range downloading.FindAllStringSubmatch(text, -1) {
		missing = append(missing, m[1]+"@"+m[2])
	}
	for _, m := range notFound.FindAllStringSubmatch(text, -1) {
		missing = append(missing, m[1])
	}
	file, err := modfile.Parse("go.mod", mod, nil)
	if err == nil { // what is wrong with it, text says
		for _, r := range file.Require {
			if m := replacement(file, r.Mod); !modfile.IsDirectoryPath(m.Path) && !s.cached(m) {
				missing = append(missing, m.String())
			}
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// replacement is the module that stands in for a required one, which may be a directory, or else the required one.
func replacement(file *modfile.File, required module.Version) module.Version {
	for _, r := range file.Replace {
		if r.Old.Path == required.Path && (r.Old.Version == "" || r.Old.Version == required.Version) {
			return r.New
		}
	}
	return required
}

// cached reports whether the archive of a module is in the module cache.
func (s settings) cached(m module.Version) bool {
	name, err := module.EscapePath(m.Path)
	if err != nil {
		return false
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(s.ModCache, "cache", "download", filepath.FromSlash(name), "@v", version+".zip"))
	return !errors.Is(err, fs.ErrNotExist)
}
