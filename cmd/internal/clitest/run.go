package clitest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
)

// NewProject runs commands in a new directory named variant and returns the directory.
func NewProject(t *testing.T, commands ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "variant")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		MustRun(t, dir, strings.Fields(command)...)
	}
	return dir
}

// generationCache is the cache directory of commands, one per test binary. It contains the types of modules, which take one
// or two seconds to load.
var generationCache = sync.OnceValues(func() (string, error) { return cacheDir("commands") })

// Run runs a command in this process, without a terminal and without input. With an empty cache, commands share one, but
// bundle, which records its output there, has none.
func Run(tb testing.TB, dir, cache string, args ...string) (code int, out, errOut string) {
	tb.Helper()
	return RunWith(tb, dir, cache, nil, args...)
}

// RunWith is Run with variables, as KEY=VALUE, in addition to the environment's.
func RunWith(tb testing.TB, dir, cache string, variables []string, args ...string) (code int, out, errOut string) {
	tb.Helper()
	return RunOn(tb, nil, dir, cache, variables, args...)
}

// RunOn is RunWith on a file system that wraps the one of the operating system; nil wraps nothing.
func RunOn(tb testing.TB, wrap func(afero.Fs) afero.Fs, dir, cache string, variables []string, args ...string) (code int, out, errOut string) {
	tb.Helper()
	env := Env(tb, dir)
	var o, e bytes.Buffer
	env.Out, env.Err = &o, &e
	env.Environ = append(env.Environ, variables...)
	if wrap != nil {
		env.FS = wrap(env.FS)
	}
	if cache != "" || args[0] == "bundle" {
		env.CacheDir = cache
	}
	if args[0] == "bundle" { // createdAt
		env.Environ = append(env.Environ, "SOURCE_DATE_EPOCH=1767225600")
	}
	code = cmd.Main(context.Background(), env, append([]string{"operon"}, args...))
	return code, o.String(), e.String()
}

// Env returns the Env of a command in dir, without a terminal and without input, and with the cache that commands share. The modules
// that it needs are downloaded. The caller sets Out and Err.
func Env(tb testing.TB, dir string) *cmd.Env {
	tb.Helper()
	env, err := cmd.System()
	if err != nil {
		tb.Fatal(err)
	}
	env.In, env.InPipe, env.InFile = strings.NewReader(""), false, false
	env.InTerminal, env.OutTerminal, env.ErrTerminal = false, false, false
	env.SlowAfter, env.Runtime, env.Dir = NeverSlow, Runtime, dir
	if env.CacheDir, err = generationCache(); err != nil {
		tb.Fatal(err)
	}
	if err := DownloadModules(); err != nil {
		tb.Fatal(err)
	}
	return env
}

// MustRun runs a command, fails the test unless it exits with 0, and returns stdout.
func MustRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if args[0] == "operon" {
		args = args[1:]
	}
	code, out, errOut := Run(t, dir, "", args...)
	if code != 0 {
		t.Fatalf("operon %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// MustReject runs a command, fails the test unless it exits with 1, and returns stderr.
func MustReject(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, out, errOut := Run(t, dir, "", args...)
	if code != 1 {
		t.Fatalf("operon %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return errOut
}
