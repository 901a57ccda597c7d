package cmd

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/goenv"
	"github.com/operon-sdk/operon/pkg/local"
)

// defaultDebugListen is the address that the Go extensions of IDEs suggest.
const defaultDebugListen = "127.0.0.1:2345"

// checkDebug returns the findings about flags that don't fit --debug and --no-manager.
func (o *runLocalOptions) checkDebug(flags *pflag.FlagSet) (findings diag.Findings) {
	if !o.debug && flags.Changed("debug-listen") {
		findings.Add("--debug-listen", o.debugListen, "is for --debug only")
	}
	if o.debug && o.preview {
		findings.Add("--debug", "true", "has no use with --preview; leave one of them out")
	}
	if !o.noManager {
		return findings
	}
	for _, name := range []string{"kubeconfig", "context", "debug", "preview", "as-admin", "logs", "webhooks"} {
		if flags.Changed(name) {
			findings.Add("--"+name, flags.Lookup(name).Value.String(), "has no use with --no-manager; leave one of them out")
		}
	}
	if flags.Changed("control-plane") && o.controlPlane != local.PlaneEmbedded {
		findings.Add("--control-plane", o.controlPlane, "must be embedded with --no-manager")
	}
	return findings
}

// setDebug sets the options for --debug and --no-manager.
func (a *app) setDebug(o *runLocalOptions, options *local.Options) error {
	if o.noManager {
		options.NoManager, options.ControlPlane, options.Webhooks = true, local.PlaneEmbedded, false
	}
	if !o.debug {
		return nil
	}
	if options.Program.Name != "" {
		return errors.New("--debug is for operators in Go: this project's manager is operon-runtime")
	}
	program := a.findDelve()
	if program == "" {
		return errors.New("--debug needs Delve, and dlv isn't in PATH or the bin directory of the GOPATH; install it with 'go install github.com/go-delve/delve/cmd/dlv@latest'")
	}
	options.Debugger = &local.Debugger{Program: program, Listen: o.debugListen}
	options.Keep = "" // it would be linked again in the next run without --debug
	return nil
}

// findDelve returns the path of dlv in PATH or where "go install" puts it, or "".
func (a *app) findDelve() string {
	environment := goenv.New(a.Environ, false)
	bin := cmp.Or(environment.Get("GOBIN"), filepath.Join(a.GOPATH(), "bin"))
	return goenv.New(append(a.Environ[:len(a.Environ):len(a.Environ)], "PATH="+environment.Get("PATH")+string(os.PathListSeparator)+bin), false).Find("dlv")
}
