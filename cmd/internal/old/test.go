package old

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
)

// A Test contains the flags and the argument of test local.
type Test struct {
	Kubeconfig string
	flags      string
	debug      bool
	// more are the words of flags, and args the arguments.
	more, args []string
}

// AddTo adds the flags.
func (o *Test) AddTo(f *pflag.FlagSet) {
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig `file`")
	f.StringVar(&o.flags, "go-test-flags", "", "more `flags` of go test, as one argument")
	f.BoolVar(&o.debug, "debug", false, "print more, like go test -v")
	ofTest().AddTo(f)
}

// Check validates the flags and arguments.
func (o *Test) Check(f *pflag.FlagSet, args []string) (err error) {
	findings := ofTest().Used(f)
	if strings.TrimSpace(o.flags) != "" {
		if o.more, err = words.Split(o.flags); err != nil {
			findings.Add("--go-test-flags", o.flags, err.Error())
		}
	}
	if len(args) > 1 {
		findings = append(findings, diag.Finding{Field: "DIR", Value: strings.Join(args, " "), Problem: "must be one directory"})
	}
	o.args = args
	return findings.Err()
}

// Directory returns the directory of the tests relative to the project's root, or an empty string if no argument is given.
func (o *Test) Directory(e *env.Env, root string) (string, error) {
	if len(o.args) == 0 {
		return "", nil
	}
	given := o.args[0]
	name := strings.TrimSuffix(strings.TrimSuffix(given, "..."), "/")
	dir, err := filepath.Rel(root, e.Absolute(name))
	if err != nil {
		return "", err
	}
	dir = filepath.ToSlash(dir)
	if action.IsOutside(dir) {
		return "", diag.Findings{{Field: "DIR", Value: given, Problem: "is outside of the project"}}
	}
	if info, err := e.FS.Stat(filepath.Join(root, filepath.FromSlash(dir))); err != nil || !info.IsDir() {
		return "", diag.Findings{{Field: "DIR", Value: given, Problem: "no such directory"}}
	}
	return dir, nil
}

// GoTest returns the arguments of the go command for the tests in a directory of the project, and the target of make that runs them.
func (o *Test) GoTest(dir string) (args []string, target string, e2e bool) {
	args, target = []string{"test"}, "test"
	if e2e = path.Base(dir) == "e2e"; e2e {
		args, target = append(args, "-tags=e2e", "-count=1", "-timeout=0"), "test-e2e"
	}
	if o.debug {
		args = append(args, "-v")
	}
	return append(append(args, o.more...), "./"+path.Join(dir, "...")), target, e2e
}
