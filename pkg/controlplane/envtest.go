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

// SetupEnvtestOptions are what SetupEnvtest may touch.
type SetupEnvtestOptions struct {
	// Name is what the user calls the command: operon tool setup-envtest.
	Name string
	// Out gets the answer, Err what is said on the way. In holds the archive for sideload.
	In       io.Reader
	Out, Err io.Writer
	// Getenv reads KUBEBUILDER_ASSETS, ENVTEST_INSTALLED_ONLY and ENVTEST_USE_ENV.
	Getenv func(string) string
	// Dir is what --bin-dir is relative to; empty is the working directory.
	Dir string
	// Ensure tells where else to look, and how to build, where the index cannot be reached.
	Ensure EnsureOptions
}

// envtestFlags are the flags of setup-envtest's command line.
type envtestFlags struct {
	force, installedOnly, verify, useEnv bool
	os, arch, binDir, index, verbosity   string
	print                                envp.PrintFormat
	help                                 bool
}

// SetupEnvtest serves the command line of setup-envtest. It differs in one thing: where `use` finds
// nothing installed and cannot download, it takes Operon's own build, made on the spot if need be, and
// puts that into the store. An error is an *ExitError; the caller prints it.
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
		return &ExitError{Code: 2, Err: fmt.Errorf("name a command (use, list, cleanup, sideload or version) and at most one version; see %s --help", o.Name)}
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
		return &ExitError{Code: 2, Err: fmt.Errorf("unknown command %q: it is one of use, list, cleanup, sideload and version", command)}
	}
}

func (f *envtestFlags) flagSet(o SetupEnvtestOptions) *pflag.FlagSet {
	set := pflag.NewFlagSet("setup-envtest", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	set.BoolVar(&f.force, "force", false, "download even what is installed")
	set.BoolVarP(&f.installedOnly, "installed-only", "i", o.Getenv("ENVTEST_INSTALLED_ONLY") != "", "look at installed versions only, and fail where that is not enough")
	set.BoolVar(&f.verify, "verify", true, "verify the checksums of downloads")
	set.BoolVar(&f.useEnv, "use-env", o.Getenv("ENVTEST_USE_ENV") != "", "answer with KUBEBUILDER_ASSETS where that is set")
	set.StringVar(&f.os, "os", runtime.GOOS, "operating system of the programs; '*' in list and cleanup is any")
	set.StringVar(&f.arch, "arch", runtime.GOARCH, "processor architecture of the programs; '*' in list and cleanup is any")
	set.StringVar(&f.binDir, "bin-dir", "", "folder of the store (default: one in the user's data folder)")
	set.StringVar(&f.index, "index", remote.DefaultIndexURL, "address of the list of downloads")
	set.StringVarP(&f.verbosity, "v", "v", "warn", "what to log: debug, info, warn or error")
	set.VarP(&f.print, "print", "p", "what to print: overview, path or env")
	set.BoolVarP(&f.help, "help", "h", false, "print this help")
	return set
}

// env is the upstream library's view of the flags.
func (f *envtestFlags) env(ctx context.Context, version string, o SetupEnvtestOptions) (*envp.Env, error) {
	log, err := f.logger(o.Err)
	if err != nil {
		return nil, err
	}
	if f.binDir == "" {
		if f.binDir, err = store.DefaultStoreDir(); err != nil {
			return nil, fmt.Errorf("no default folder for the programs, use --bin-dir: %w", err)
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

// logger writes the upstream library's log lines to w. Its debug messages are of level 1, and its
// info messages are not shown unless asked for.
func (f *envtestFlags) logger(w io.Writer) (logr.Logger, error) {
	verbosity := 0
	switch strings.ToLower(f.verbosity) {
	case "error", "warn", "1", "2":
		verbosity = -1
	case "info", "0":
	case "debug", "-1":
		verbosity = 1
	default:
		return logr.Logger{}, fmt.Errorf("-v %s: it is one of debug, info, warn and error", f.verbosity)
	}
	if verbosity < 0 {
		return logr.Discard(), nil
	}
	return funcr.New(func(prefix, args string) { fmt.Fprintln(w, strings.TrimSpace(prefix+" "+args)) },
		funcr.Options{Verbosity: verbosity}), nil
}

// setupEnvtestVersion is the version of the upstream module that is linked in.
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

Finds, downloads or builds the programs that tests with envtest run: etcd, kube-apiserver and kubectl.

Commands:
  use       print where a version is, after downloading it if need be; without the index's help it is
            Operon's own build of Kubernetes %[2]s, which takes some minutes the first time
  list      list the versions that are installed and that can be downloaded
  cleanup   remove versions
  sideload  install a version from a .tar.gz archive on the standard input
  version   print the version of the setup-envtest that is built in

Versions:
  1.36.3          this one
  1.36, 1.36.x    any patch release, the newest first
  ~1.36.2         a patch release that is at least this
  <1.36, <=1.36   older ones, for cleanup
  1.36.x!         the newest that can be downloaded, even if another is installed
  latest          the newest of all; latest-on-disk is the newest installed

Flags:
%[3]s
Environment:
  KUBEBUILDER_ASSETS      answer of --use-env
  ENVTEST_INSTALLED_ONLY  any value switches -i on
  ENVTEST_USE_ENV         any value switches --use-env on

Example:
  KUBEBUILDER_ASSETS="$(%[1]s use %[4]s -p path)" go test ./...
`, name, Version, flags.FlagUsages(), minorOf(Version))
}
