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

// environment is what the go command sees of the system.
type environment struct {
	vars   []string
	values map[string]string
	// tags are the build tags that select Go files.
	tags []string
}

func newEnvironment(vars []string, offline bool) *environment {
	vars = append([]string{}, vars...) // the go command would get the environment of the process for nil
	if offline {
		vars = append(vars, "GOPROXY=off")
	}
	e := &environment{vars: vars, values: map[string]string{}, tags: Call{}.buildTags()}
	for _, v := range vars {
		if name, value, ok := strings.Cut(v, "="); ok {
			e.values[e.name(name)] = value
		}
	}
	return e
}

// name folds the case of a variable's name where the system does.
func (e *environment) name(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

func (e *environment) get(name string) string { return e.values[e.name(name)] }

// find is the path of a program, or "".
func (e *environment) find(program string) string {
	names := []string{program}
	if runtime.GOOS == "windows" {
		names = []string{program + ".exe", program + ".bat", program + ".cmd"}
	}
	for _, dir := range filepath.SplitList(e.get("PATH")) {
		for _, name := range names {
			file := filepath.Join(dir, name)
			info, err := os.Stat(file)
			if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0) && filepath.IsAbs(file) {
				return file
			}
		}
	}
	return ""
}

// goenv is the content of the file that go env -w writes.
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

// setting is the value of a go setting: of the environment, else of the go env file.
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

func (e *environment) prepare(dir string) (*tempdir.Dir, error) {
	if err := e.check(dir); err != nil {
		return nil, err
	}
	return e.tempDir()
}

// tempDir creates a directory for a run of the go command.
func (e *environment) tempDir() (*tempdir.Dir, error) {
	return tempdir.NewGo(cmp.Or(e.setting("GOTMPDIR"), e.get("TMPDIR")))
}

// tagsFlag returns the flag of the go command for the build tags.
func (e *environment) tagsFlag() string { return "-tags=" + strings.Join(e.tags, ",") }

// buildContext selects files as go list does with tagsFlag in this environment.
func (e *environment) buildContext() build.Context {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH = runtime.GOOS, runtime.GOARCH
	if v := e.setting("GOOS"); v != "" {
		ctx.GOOS = v
	}
	if v := e.setting("GOARCH"); v != "" {
		ctx.GOARCH = v
	}
	// The -tags flag that the loader passes overrides any in GOFLAGS.
	ctx.BuildTags = e.tags
	switch e.setting("CGO_ENABLED") {
	case "1":
		ctx.CgoEnabled = true
	case "0":
		ctx.CgoEnabled = false
	default:
		cc := e.setting("CC")
		if cc == "" {
			cc = "gcc"
			if ctx.GOOS == "darwin" || ctx.GOOS == "freebsd" || ctx.GOOS == "openbsd" {
				cc = "clang"
			}
		}
		ctx.CgoEnabled = ctx.GOOS == runtime.GOOS && ctx.GOARCH == runtime.GOARCH && e.find(strings.Fields(cc)[0]) != ""
	}
	return ctx
}

// goroot is the folder of the Go installation, or "" where it cannot be told without running it.
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

// identity is everything outside of the project that decides what go list answers.
func (e *environment) identity() []byte {
	var b bytes.Buffer
	var vars []string
	for name, value := range e.values {
		// GOPROXY and the like decide how modules arrive, not what they are: go.sum does.
		switch name {
		case "GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOAUTH", "GOVCS", "GOINSECURE", "GOCACHE", "GOTMPDIR", "GOMAXPROCS", "GOGC", "GOMEMLIMIT":
			continue
		}
		if strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_") || name == "HOME" || name == "USERPROFILE" || name == "CC" {
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

// moduleCaches are the folders that may hold the module cache, each ending in a separator.
func (e *environment) moduleCaches() []string {
	var dirs []string
	if v := e.setting("GOMODCACHE"); v != "" {
		dirs = append(dirs, v)
	} else {
		gopath := e.setting("GOPATH")
		if gopath == "" {
			home := e.get("HOME")
			if runtime.GOOS == "windows" {
				home = e.get("USERPROFILE")
			}
			gopath = filepath.Join(home, "go")
		}
		if list := filepath.SplitList(gopath); len(list) > 0 {
			dirs = append(dirs, filepath.Join(list[0], "pkg", "mod"))
		}
	}
	for i, dir := range dirs {
		dirs[i] = filepath.Clean(dir) + string(filepath.Separator)
	}
	return dirs
}
