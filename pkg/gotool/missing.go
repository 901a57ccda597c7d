package gotool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// MissingError reports modules that a command needs and that are not in the module cache.
type MissingError struct {
	// Modules are path@version, or arguments of go get: the modules that the project imports or the go command reports,
	// sorted, then other requirements, sorted. The requirements of these modules are not included. It is empty if the go
	// command names none.
	Modules []string
	// Forbidden is the setting that forbids downloads, --offline or GOPROXY=off. It is empty if a download failed.
	Forbidden string
	// Reason is the first error of a failed download after a colon, or empty.
	Reason string
}

func (e *MissingError) Error() string {
	switch e.Forbidden {
	case "":
		return e.Problem() + "; downloading them failed" + e.Reason + "; check the network and GOPROXY, and run the command again"
	case offlineFlag:
		return e.Problem() + "; run the command again without --offline to download them"
	}
	return e.Problem() + "; " + e.Forbidden + " forbids downloading them: unset it or set it to a module proxy, and run the command again"
}

// offlineFlag is the flag for Go.Offline.
const offlineFlag = "--offline"

// mostNamed is the number of modules that an error names.
const mostNamed = 8

// Problem describes the missing modules without a fix.
func (e *MissingError) Problem() string {
	if len(e.Modules) == 0 {
		return "the module cache lacks modules that the go command did not name"
	}
	named, others := e.Modules, ""
	if len(named) > mostNamed {
		named, others = named[:mostNamed-1], fmt.Sprintf(" and %d others", len(named)-mostNamed+1)
	}
	return fmt.Sprintf("the module cache lacks %s: %s%s", diag.Count(len(e.Modules), "module"), strings.Join(named, ", "), others)
}

// What the go command prints about a module that it cannot download.
var (
	downloading = lazyregexp.New(`(?m)^go: downloading (\S+) (\S+)$`)
	notFound    = lazyregexp.New(`([^\s"]+@v[^\s":]+): (?:module lookup disabled|verifying )`)
)

// missing returns the modules in text and those that mod requires if they are not in the module cache, in the order of
// MissingError.Modules.
func (s settings) missing(mod []byte, text string) []string {
	var direct, indirect []string
	for _, m := range downloading.FindAllStringSubmatch(text, -1) {
		direct = append(direct, m[1]+"@"+m[2])
	}
	for _, m := range notFound.FindAllStringSubmatch(text, -1) {
		direct = append(direct, m[1])
	}
	file, err := modfile.Parse("go.mod", mod, nil)
	if err == nil { // otherwise text contains the error
		for _, r := range file.Require {
			m := replacement(file, r.Mod)
			switch {
			case modfile.IsDirectoryPath(m.Path) || s.cached(m):
			case r.Indirect:
				indirect = append(indirect, m.String())
			default:
				direct = append(direct, m.String())
			}
		}
	}
	slices.Sort(direct)
	direct = slices.Compact(direct)
	indirect = slices.DeleteFunc(indirect, func(m string) bool { return slices.Contains(direct, m) })
	slices.Sort(indirect)
	return append(direct, indirect...)
}

// replacement returns the module that replaces a required one, which may be a directory, or the required one.
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
