package controlplane

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/spf13/afero"
	"github.com/spf13/pflag"
	envp "sigs.k8s.io/controller-runtime/tools/setup-envtest/env"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/remote"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/workflows"
)

// SetupEnvtestOptions are the options of SetupEnvtest.
type SetupEnvtestOptions struct {
	// Name is the command line of the command: operon tool setup-envtest.
	Name string
	// Out receives results, Err progress. In is the archive for sideload.
	In       io.Reader
	Out, Err io.Writer
	// Getenv reads KUBEBUILDER_ASSETS, ENVTEST_INSTALLED_ONLY and ENVTEST_USE_ENV.
	Getenv func(string) string
	// Dir is the directory that --bin-dir is relative to; empty means the process's working directory.
	Dir string
	// Ensure are the options for builds if the index cannot be reached.
	Ensure EnsureOptions
}

// envtestFlags are the flags of setup-envtest's command line.
type envtestFlags struct {
	force, installedOnly, verify, useEnv bool
	os, arch, binDir, index, verbosity   string
	print                                envp.PrintFormat
	help                                 bool
}

// SetupEnvtest runs the command line of setup-envtest. If a version is neither installed nor can be downloaded, `use` adds Operon's
// build to the store, unlike setup-envtest. The error is an *ExitError, which the caller prints.
func SetupEnvtest(ctx context.Context, args []string, o SetupEnvtestOptions) error {
	f := envtestFlags{verify: true}
	set := f.flagSet(o)
	if err := set.Parse(args); err != nil {
		return &ExitError{Code: 2, Err: err}
	}
	if f.help {
		fmt.Fprint(o.Out, envtestUsage(o.Name, set))
		return nil
	}
	if n := set.NArg(); n < 1 || n > 2 {
		return &ExitError{Code: 2, Err: fmt.Errorf("pass a command (use, list, cleanup, sideload or version) and at most one version; see %s --help", o.Name)}
	}
	env, err := f.env(ctx, set.Arg(1), o)
	if err != nil {
		return &ExitError{Code: 2, Err: err}
	}
	switch command := set.Arg(0); command {
	case "use":
		return f.use(ctx, env, o)
	case "list":
		return catchExit(func() { workflows.List{}.Do(env) })
	case "cleanup":
		return catchExit(func() { workflows.Cleanup{}.Do(env) })
	case "sideload":
		return catchExit(func() { workflows.Sideload{Input: o.In, PrintFormat: f.print}.Do(env) })
	case "version":
		fmt.Fprintf(o.Out, "setup-envtest version: %s\n", setupEnvtestVersion())
		return nil
	default:
		return &ExitError{Code: 2, Err: fmt.Errorf("unknown command %q; must be one of use, list, cleanup, sideload and version", command)}
	}
}

func (f *envtestFlags) flagSet(o SetupEnvtestOptions) *pflag.FlagSet {
	set := pflag.NewFlagSet("setup-envtest", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	set.BoolVar(&f.force, "force", false, "download installed versions, too")
	set.BoolVarP(&f.installedOnly, "installed-only", "i", o.Getenv("ENVTEST_INSTALLED_ONLY") != "", "use only installed versions")
	set.BoolVar(&f.verify, "verify", true, "verify the checksums of downloads")
	set.BoolVar(&f.useEnv, "use-env", o.Getenv("ENVTEST_USE_ENV") != "", "print KUBEBUILDER_ASSETS if it is set")
	set.StringVar(&f.os, "os", runtime.GOOS, "operating system of the programs; '*' selects all in list and cleanup")
	set.StringVar(&f.arch, "arch", runtime.GOARCH, "processor architecture of the programs; '*' selects all in list and cleanup")
	set.StringVar(&f.binDir, "bin-dir", "", "directory of the store (default: in the user's data directory)")
	set.StringVar(&f.index, "index", remote.DefaultIndexURL, "URL of the list of downloads")
	set.StringVarP(&f.verbosity, "v", "v", "warn", "log level: debug, info, warn or error")
	set.VarP(&f.print, "print", "p", "output format: overview, path or env")
	set.BoolVarP(&f.help, "help", "h", false, "print this help")
	return set
}

// env returns the settings of the upstream library.
func (f *envtestFlags) env(ctx context.Context, version string, o SetupEnvtestOptions) (*envp.Env, error) {
	log, err := f.logger(o.Err)
	if err != nil {
		return nil, err
	}
	if f.binDir == "" {
		if f.binDir, err = store.DefaultStoreDir(); err != nil {
			return nil, fmt.Errorf("no default directory for the programs; pass --bin-dir: %w", err)
		}
	} else if !filepath.IsAbs(f.binDir) && o.Dir != "" {
		f.binDir = filepath.Join(o.Dir, f.binDir)
	}
	env := &envp.Env{
		Log:           log,
		Client:        newIndexClient(ctx, log, f.index),
		VerifySum:     f.verify,
		ForceDownload: f.force,
		NoDownload:    f.installedOnly,
		Platform:      versions.PlatformItem{Platform: versions.Platform{OS: f.os, Arch: f.arch}},
		FS:            afero.Afero{Fs: afero.NewOsFs()},
		Store:         store.NewAt(f.binDir),
		Out:           o.Out,
	}
	switch version {
	case "", "latest":
		env.Version = versions.LatestVersion
	case "latest-on-disk":
		env.Version = versions.AnyVersion
		env.NoDownload = true
	default:
		if env.Version, err = parseVersion(version); err != nil {
			return nil, err
		}
	}
	return env, catchExit(env.CheckCoherence)
}

// logger returns the logger of the upstream library, which writes to w. Its debug messages have level 1.
func (f *envtestFlags) logger(w io.Writer) (logr.Logger, error) {
	verbosity := 0
	switch strings.ToLower(f.verbosity) {
	case "error", "warn", "1", "2":
		verbosity = -1
	case "info", "0":
	case "debug", "-1":
		verbosity = 1
	default:
		return logr.Logger{}, fmt.Errorf("-v %s: must be one of debug, info, warn and error", f.verbosity)
	}
	if verbosity < 0 {
		return logr.Discard(), nil
	}
	return funcr.New(func(prefix, args string) { fmt.Fprintln(w, strings.TrimSpace(prefix+" "+args)) },
		funcr.Options{Verbosity: verbosity}), nil
}

// setupEnvtestVersion returns the version of the linked upstream module.
func setupEnvtestVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "sigs.k8s.io/controller-runtime/tools/setup-envtest" {
				return module.Version
			}
		}
	}
	return "(unknown)"
}

func envtestUsage(name string, flags *pflag.FlagSet) string {
	return fmt.Sprintf(`Usage: %[1]s [flags] use|list|cleanup|sideload|version [VERSION]

Find, download or build the programs of envtest: etcd, kube-apiserver and kubectl.

Commands:
  use       print the directory of a version, after downloading it if necessary; if the index cannot
            be reached, it is Operon's build of Kubernetes %[2]s, which takes some minutes the first time
  list      list installed and downloadable versions
  cleanup   remove versions
  sideload  install a version from a .tar.gz archive on standard input
  version   print the version of the built-in setup-envtest

Versions:
  1.36.3          this version
  1.36, 1.36.x    the newest patch release
  ~1.36.2         this or a newer patch release
  <1.36, <=1.36   older versions, for cleanup
  1.36.x!         the newest downloadable version, even if another one is installed
  latest          the newest version; latest-on-disk is the newest installed one

Flags:
%[3]s
Environment:
  KUBEBUILDER_ASSETS      result of --use-env
  ENVTEST_INSTALLED_ONLY  any value enables -i
  ENVTEST_USE_ENV         any value enables --use-env

Example:
  KUBEBUILDER_ASSETS="$(%[1]s use %[4]s -p path)" go test ./...
`, name, Version, flags.FlagUsages(), minorOf(Version))
}
