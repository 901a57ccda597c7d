// Package goenv reads the settings of the go command, and finds what prevents it from working on a project, without
// running it.
package goenv

import (
	"bytes"
	"cmp"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/tempdir"
)

// An Environment is the environment of the go command, with its settings. They are read without the go command, so that a
// command with cached results starts no process.
type Environment struct {
	// Vars are the variables, as of os.Environ.
	Vars []string
	// Tags are the build tags that select Go files: from GOFLAGS, unless the caller replaces them.
	Tags   []string
	values map[string]string
}

// New returns the environment with variables, as of os.Environ. If offline, it forbids downloads.
func New(vars []string, offline bool) *Environment {
	vars = append([]string{}, vars...) // with nil, the go command would get the environment of the process
	if offline {
		vars = append(vars, "GOPROXY=off")
	}
	e := &Environment{Vars: vars, values: map[string]string{}}
	for _, v := range vars {
		if name, value, ok := strings.Cut(v, "="); ok {
			e.values[canonical(name)] = value
		}
	}
	e.Tags = e.flagTags()
	return e
}

// canonical returns the canonical name of a variable: upper case on Windows.
func canonical(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// Get returns the value of a variable, or "".
func (e *Environment) Get(name string) string { return e.values[canonical(name)] }

// Find returns the path of a program in PATH, or "".
func (e *Environment) Find(program string) string {
	names := []string{program}
	if runtime.GOOS == "windows" {
		names = []string{program + ".exe", program + ".bat", program + ".cmd"}
	}
	for _, dir := range filepath.SplitList(e.Get("PATH")) {
		for _, name := range names {
			file := filepath.Join(dir, name)
			info, err := os.Stat(file)
			if err != nil || !info.Mode().IsRegular() || !filepath.IsAbs(file) {
				continue
			}
			if runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0 {
				return file
			}
		}
	}
	return ""
}

// goenv returns the content of the file that go env -w writes.
func (e *Environment) goenv() []byte {
	name := e.Get("GOENV")
	if name == "off" {
		return nil
	}
	if name == "" {
		dir := e.Get("XDG_CONFIG_HOME")
		switch {
		case runtime.GOOS == "windows":
			dir = e.Get("APPDATA")
		case runtime.GOOS == "darwin":
			dir = filepath.Join(e.Get("HOME"), "Library", "Application Support")
		case dir == "":
			dir = filepath.Join(e.Get("HOME"), ".config")
		}
		name = filepath.Join(dir, "go", "env")
	}
	data, _ := os.ReadFile(name)
	return data
}

// Setting returns the value of a go setting: of the environment, or else of the go env file.
func (e *Environment) Setting(name string) string {
	if v := e.Get(name); v != "" {
		return v
	}
	for line := range strings.Lines(string(e.goenv())) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && key == name {
			return value
		}
	}
	return ""
}

// Prepare does what Check does, and creates a directory for the temporary files of a go command.
func (e *Environment) Prepare(dir string) (*tempdir.Dir, error) {
	if err := e.Check(dir); err != nil {
		return nil, err
	}
	return tempdir.NewGo(cmp.Or(e.Setting("GOTMPDIR"), e.Get("TMPDIR")))
}

// TagsFlag returns the flag of the go command for the build tags.
func (e *Environment) TagsFlag() string { return "-tags=" + strings.Join(e.Tags, ",") }

// BuildContext selects files as go list does with TagsFlag in this environment.
func (e *Environment) BuildContext() build.Context {
	ctx := build.Default
	ctx.GOOS = cmp.Or(e.Setting("GOOS"), runtime.GOOS)
	ctx.GOARCH = cmp.Or(e.Setting("GOARCH"), runtime.GOARCH)
	ctx.BuildTags = e.Tags
	switch e.Setting("CGO_ENABLED") {
	case "1":
		ctx.CgoEnabled = true
	case "0":
		ctx.CgoEnabled = false
	default:
		cc := "gcc"
		if slices.Contains([]string{"darwin", "freebsd", "openbsd"}, ctx.GOOS) {
			cc = "clang"
		}
		cc = cmp.Or(e.Setting("CC"), cc)
		ctx.CgoEnabled = ctx.GOOS == runtime.GOOS && ctx.GOARCH == runtime.GOARCH && e.Find(strings.Fields(cc)[0]) != ""
	}
	return ctx
}

// Root returns the directory of the Go installation, or "" if it is not known without running it.
func (e *Environment) Root() string {
	if v := e.Get("GOROOT"); v != "" {
		return v
	}
	file, err := filepath.EvalSymlinks(e.Find("go"))
	if err != nil {
		return ""
	}
	return filepath.Dir(filepath.Dir(file))
}

// Identity returns everything outside of the project that the output of go list depends on.
func (e *Environment) Identity() []byte {
	var b bytes.Buffer
	var vars []string
	for name, value := range e.values {
		// These do not affect the content of modules, which go.sum determines.
		switch name {
		case "GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOAUTH", "GOVCS", "GOINSECURE",
			"GOCACHE", "GOTMPDIR", "GOMAXPROCS", "GOGC", "GOMEMLIMIT":
			continue
		}
		if strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_") ||
			name == "HOME" || name == "USERPROFILE" || name == "CC" {
			vars = append(vars, name+"="+value)
		}
	}
	slices.Sort(vars)
	fmt.Fprintf(&b, "%q\n%q\n%q\n", vars, e.Tags, e.goenv())
	file := e.Find("go")
	if info, err := os.Stat(file); err == nil {
		fmt.Fprintf(&b, "%s %d %d\n", file, info.Size(), info.ModTime().UnixNano())
	}
	return b.Bytes()
}

// ModuleCache returns the directory of the module cache with a trailing separator.
func (e *Environment) ModuleCache() string {
	dir := e.Setting("GOMODCACHE")
	if dir == "" {
		gopath := cmp.Or(e.Setting("GOPATH"), filepath.Join(e.Get(homeVariable()), "go"))
		dir = filepath.Join(filepath.SplitList(gopath)[0], "pkg", "mod")
	}
	return filepath.Clean(dir) + string(filepath.Separator)
}

// homeVariable returns the name of the variable with the user's home directory.
func homeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// flagTags returns the build tags of GOFLAGS.
func (e *Environment) flagTags() []string {
	var tags []string
	for _, flag := range strings.Fields(e.Setting("GOFLAGS")) {
		name, value, _ := strings.Cut(flag, "=")
		if strings.TrimLeft(name, "-") == "tags" {
			tags = strings.FieldsFunc(strings.Trim(value, `'"`), func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return tags
}

// Toolchain returns the version of Go, or nil if it is not known without running it.
func (e *Environment) Toolchain() []byte {
	version, _ := os.ReadFile(filepath.Join(e.Root(), "VERSION"))
	return version
}

// Immutable returns a function that reports whether the names of files determine their content: files of a version of a module
// in the module cache, and files of the Go installation, whose version is Toolchain.
func (e *Environment) Immutable() func(names []string) bool {
	cache, root := e.ModuleCache(), e.Root()
	return func(names []string) bool {
		for _, name := range names {
			rest, inCache := strings.CutPrefix(name, cache)
			if !(inCache && strings.Contains(rest, "@v")) && !(root != "" && strings.HasPrefix(name, root+string(filepath.Separator))) {
				return false
			}
		}
		return len(names) > 0
	}
}
