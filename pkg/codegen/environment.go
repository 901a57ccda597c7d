package codegen

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

// An environment is the environment of the go command, with its settings. They are read without the go command, so that a
// run with cached results starts no process.
type environment struct {
	vars   []string
	values map[string]string
	// tags are the build tags that select Go files.
	tags []string
}

// newEnvironment returns the environment with variables, without network if offline.
func newEnvironment(vars []string, offline bool) *environment {
	vars = append([]string{}, vars...) // with nil, the go command would get the environment of the process
	if offline {
		vars = append(vars, "GOPROXY=off")
	}
	e := &environment{vars: vars, values: map[string]string{}, tags: Call{}.buildTags()}
	for _, v := range vars {
		if name, value, ok := strings.Cut(v, "="); ok {
			e.values[canonical(name)] = value
		}
	}
	return e
}

// canonical returns the canonical name of a variable: upper case on Windows.
func canonical(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// get returns the value of a variable.
func (e *environment) get(name string) string { return e.values[canonical(name)] }

// find returns the path of a program, or "".
func (e *environment) find(program string) string {
	names := []string{program}
	if runtime.GOOS == "windows" {
		names = []string{program + ".exe", program + ".bat", program + ".cmd"}
	}
	for _, dir := range filepath.SplitList(e.get("PATH")) {
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
func (e *environment) goenv() []byte {
	name := e.get("GOENV")
	if name == "off" {
		return nil
	}
	if name == "" {
		dir := e.get("XDG_CONFIG_HOME")
		switch {
		case runtime.GOOS == "windows":
			dir = e.get("APPDATA")
		case runtime.GOOS == "darwin":
			dir = filepath.Join(e.get("HOME"), "Library", "Application Support")
		case dir == "":
			dir = filepath.Join(e.get("HOME"), ".config")
		}
		name = filepath.Join(dir, "go", "env")
	}
	data, _ := os.ReadFile(name)
	return data
}

// setting returns the value of a go setting: of the environment, or else of the go env file.
func (e *environment) setting(name string) string {
	if v := e.get(name); v != "" {
		return v
	}
	for line := range strings.Lines(string(e.goenv())) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && key == name {
			return value
		}
	}
	return ""
}

// PrepareGo does what CheckGo does, and creates a directory for the temporary files of a go command.
func PrepareGo(environ []string, dir string) (*tempdir.Dir, error) {
	return newEnvironment(environ, false).prepare(dir)
}

// prepare checks the environment and creates a temporary directory: see PrepareGo.
func (e *environment) prepare(dir string) (*tempdir.Dir, error) {
	if err := e.check(dir); err != nil {
		return nil, err
	}
	return tempdir.NewGo(cmp.Or(e.setting("GOTMPDIR"), e.get("TMPDIR")))
}

// tagsFlag returns the flag of the go command for the build tags.
func (e *environment) tagsFlag() string { return "-tags=" + strings.Join(e.tags, ",") }

// buildContext selects files as go list does with tagsFlag in this environment.
func (e *environment) buildContext() build.Context {
	ctx := build.Default
	ctx.GOOS = cmp.Or(e.setting("GOOS"), runtime.GOOS)
	ctx.GOARCH = cmp.Or(e.setting("GOARCH"), runtime.GOARCH)
	// The -tags flag that the loader passes overrides any in GOFLAGS.
	ctx.BuildTags = e.tags
	switch e.setting("CGO_ENABLED") {
	case "1":
		ctx.CgoEnabled = true
	case "0":
		ctx.CgoEnabled = false
	default:
		cc := "gcc"
		if slices.Contains([]string{"darwin", "freebsd", "openbsd"}, ctx.GOOS) {
			cc = "clang"
		}
		cc = cmp.Or(e.setting("CC"), cc)
		ctx.CgoEnabled = ctx.GOOS == runtime.GOOS && ctx.GOARCH == runtime.GOARCH && e.find(strings.Fields(cc)[0]) != ""
	}
	return ctx
}

// goroot returns the directory of the Go installation, or "" if it is not known without running it.
func (e *environment) goroot() string {
	if v := e.get("GOROOT"); v != "" {
		return v
	}
	file, err := filepath.EvalSymlinks(e.find("go"))
	if err != nil {
		return ""
	}
	return filepath.Dir(filepath.Dir(file))
}

// identity returns everything outside of the project that the output of go list depends on.
func (e *environment) identity() []byte {
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
	fmt.Fprintf(&b, "%q\n%q\n%q\n", vars, e.tags, e.goenv())
	file := e.find("go")
	if info, err := os.Stat(file); err == nil {
		fmt.Fprintf(&b, "%s %d %d\n", file, info.Size(), info.ModTime().UnixNano())
	}
	return b.Bytes()
}

// moduleCache returns the directory of the module cache with a trailing separator.
func (e *environment) moduleCache() string {
	dir := e.setting("GOMODCACHE")
	if dir == "" {
		gopath := cmp.Or(e.setting("GOPATH"), filepath.Join(e.get(homeVariable()), "go"))
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
