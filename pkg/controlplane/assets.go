package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// The programs of a control plane, as their files are called in an assets folder.
const (
	Etcd                  = "etcd"
	KubeAPIServer         = "kube-apiserver"
	KubeControllerManager = "kube-controller-manager"
	KubeScheduler         = "kube-scheduler"
	Kubectl               = "kubectl"
	// Kubelet and KubeProxy are part of Operon's own build on Linux only.
	Kubelet   = "kubelet"
	KubeProxy = "kube-proxy"
)

// Source tells where assets come from.
type Source string

const (
	// FromEnvironment is the folder that KUBEBUILDER_ASSETS names.
	FromEnvironment Source = "KUBEBUILDER_ASSETS"
	// FromStore is setup-envtest's store, into which Ensure also downloads.
	FromStore Source = "setup-envtest"
	// FromBuild is Operon's own build, made now or earlier.
	FromBuild Source = "operon"
)

// Assets is a folder of programs that a control plane runs from.
type Assets struct {
	// Dir holds the programs, as KUBEBUILDER_ASSETS expects it.
	Dir string
	// Source tells where they come from.
	Source Source
	// Version is their Kubernetes version, like 1.36.3; empty where only the user knows.
	Version string
}

// Path returns the file of one program, like KubeAPIServer.
func (a Assets) Path(name string) string { return filepath.Join(a.Dir, executable(name)) }

// EnsureOptions tell Ensure where to look and what it may do.
type EnsureOptions struct {
	// Version selects versions as setup-envtest writes them: 1.36, 1.36.x, 1.36.3, ~1.36.1. Empty is
	// the minor version of Version.
	Version string
	// Parts are the programs needed; nil is etcd and kube-apiserver.
	Parts []string
	// KubebuilderAssets is the value of the environment variable of that name.
	KubebuilderAssets string
	// StoreDirs are stores of setup-envtest; a download goes to the first.
	StoreDirs []string
	// CacheDir is the folder of all of Operon's caches; builds are kept in its folder controlplane.
	CacheDir string
	// IndexURL lists what can be downloaded; empty is setup-envtest's own.
	IndexURL string
	// NoDownload and NoBuild forbid the last two ways to get the programs.
	NoDownload, NoBuild bool
	// Environ is the environment of the build.
	Environ []string
	// Progress is told what takes time; nil is for nobody. It is called from one goroutine at a time.
	Progress func(Event)
	// Run runs a program to its end; nil runs it for real.
	Run func(ctx context.Context, command Command) error
}

// DefaultOptions returns the environment of the process, environ, with the directories that it names. A
// directory that it does not name is left out.
func DefaultOptions(environ []string) EnsureOptions {
	o := EnsureOptions{Environ: environ}
	for _, entry := range environ {
		if dir, ok := strings.CutPrefix(entry, "KUBEBUILDER_ASSETS="); ok {
			o.KubebuilderAssets = dir
		}
	}
	if dir, err := store.DefaultStoreDir(); err == nil {
		o.StoreDirs = []string{dir}
	}
	if dir, err := os.UserCacheDir(); err == nil {
		o.CacheDir = filepath.Join(dir, "operon")
	}
	return o
}

// Event is a step of Ensure that a person may want to know of.
type Event struct {
	// Message is a line for people, without a newline.
	Message string
	// Packages of Total are compiled, while a build runs; Total is 0 at other times.
	Packages, Total int
}

func (o *EnsureOptions) say(format string, args ...any) {
	o.emit(Event{Message: fmt.Sprintf(format, args...)})
}

func (o *EnsureOptions) emit(e Event) {
	if o.Progress != nil {
		o.Progress(e)
	}
}

func (o *EnsureOptions) parts() []string {
	if o.Parts == nil {
		return []string{Etcd, KubeAPIServer}
	}
	return o.Parts
}

// Ensure returns the programs of a control plane. It looks at KUBEBUILDER_ASSETS, setup-envtest's
// store and Operon's cache; then it downloads them as setup-envtest does, if the index answers within
// seconds; else it builds them from source, which takes minutes but happens once.
//
// A version other than Operon's own can only be found or downloaded. Where neither succeeds, Operon's
// own comes back in its place; compare Assets.Version.
func Ensure(ctx context.Context, o EnsureOptions) (Assets, error) {
	if o.Version == "" {
		o.Version = minorOf(Version)
	}
	spec, err := parseVersion(o.Version)
	if err != nil {
		return Assets{}, err
	}
	prog, err := loadProgram()
	if err != nil {
		return Assets{}, err
	}
	if found, err := o.find(ctx, spec, prog); err != nil || found.Dir != "" {
		return found, err
	}
	if o.NoDownload && o.NoBuild {
		return Assets{}, fmt.Errorf("%w: Kubernetes %s is neither in setup-envtest's store nor in Operon's cache", fs.ErrNotExist, o.Version)
	}
	if o.CacheDir == "" {
		return Assets{}, errors.New("no folder for caches: set HOME or XDG_CACHE_HOME, or KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver")
	}

	unlock, err := o.lock(ctx)
	if err != nil {
		return Assets{}, err
	}
	defer unlock()
	// Whoever held the lock may have done the work.
	if found, err := o.find(ctx, spec, prog); err != nil || found.Dir != "" {
		return found, err
	}
	var notDownloaded error
	if !o.NoDownload && len(o.StoreDirs) > 0 {
		assets, err := o.download(ctx, spec)
		if err == nil {
			return assets, nil
		}
		if ctx.Err() != nil {
			return Assets{}, ctx.Err()
		}
		notDownloaded = err
	}
	if built := o.built(prog); built.Dir != "" { // of another version than asked for
		return built, nil
	}
	if o.NoBuild {
		return Assets{}, fmt.Errorf("downloading Kubernetes %s: %w", o.Version, notDownloaded)
	}
	return o.build(ctx, prog)
}

// find looks at all places that need neither time nor a network. A zero Assets means none had it.
func (o *EnsureOptions) find(ctx context.Context, spec versions.Spec, prog *program) (Assets, error) {
	if dir := o.KubebuilderAssets; dir != "" {
		if missing := missingParts(dir, o.parts()); len(missing) > 0 {
			return Assets{}, fmt.Errorf("KUBEBUILDER_ASSETS=%s: no %s there; put it there, or unset the variable to let Operon find its own",
				dir, strings.Join(missing, ", "))
		}
		return Assets{Dir: dir, Source: FromEnvironment, Version: versionOfFolder(dir)}, nil
	}
	for _, dir := range o.StoreDirs {
		assets, err := findInStore(ctx, dir, spec, o.parts())
		if err != nil || assets.Dir != "" {
			return assets, err
		}
	}
	if own := ownVersion(); spec.Matches(own) {
		return o.built(prog), nil
	}
	return Assets{}, nil
}

// built returns Operon's own build if the cache holds it with all parts.
func (o *EnsureOptions) built(prog *program) Assets {
	if o.CacheDir == "" {
		return Assets{}
	}
	dir := filepath.Join(o.buildsDir(), prog.key())
	if len(missingParts(dir, o.parts())) > 0 {
		return Assets{}
	}
	return Assets{Dir: dir, Source: FromBuild, Version: Version}
}

func (o *EnsureOptions) buildsDir() string { return filepath.Join(o.CacheDir, "controlplane") }

// findInStore returns the newest version in a store of setup-envtest that matches and is complete: an
// interrupted setup-envtest leaves a folder without some of its files.
func findInStore(ctx context.Context, dir string, spec versions.Spec, parts []string) (Assets, error) {
	// A store that does not exist yet is empty; List would call that an error.
	if _, err := os.Stat(filepath.Join(dir, "k8s")); err != nil {
		return Assets{}, nil
	}
	s := store.NewAt(dir)
	items, err := s.List(logr.NewContext(ctx, logr.Discard()), store.Filter{Version: spec, Platform: hostPlatform()})
	if err != nil {
		return Assets{}, fmt.Errorf("reading setup-envtest's store: %w", err)
	}
	for _, item := range items {
		path, err := s.Path(item)
		if err != nil {
			return Assets{}, fmt.Errorf("reading setup-envtest's store: %w", err)
		}
		if len(missingParts(path, parts)) == 0 {
			return Assets{Dir: path, Source: FromStore, Version: item.Version.String()}, nil
		}
	}
	return Assets{}, nil
}

// missingParts names the programs that dir does not hold as non-empty executable files.
func missingParts(dir string, parts []string) []string {
	var missing []string
	for _, part := range parts {
		info, err := os.Stat(filepath.Join(dir, executable(part)))
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || (runtime.GOOS != "windows" && info.Mode()&0o111 == 0) {
			missing = append(missing, part)
		}
	}
	return missing
}

// parseVersion reads setup-envtest's notation for versions.
func parseVersion(expr string) (spec versions.Spec, err error) {
	defer func() {
		// The upstream parser panics on numbers that do not fit an int.
		if recover() != nil {
			err = fmt.Errorf("version %q: a number in it is too large", expr)
		}
	}()
	spec, err = versions.FromExpr(strings.TrimPrefix(expr, "v"))
	if err != nil {
		return spec, fmt.Errorf("version %q: use a form like %s, %s or ~%s", expr, Version, minorOf(Version), Version)
	}
	return spec, nil
}

// versionOfFolder reads the version off a folder that is called as setup-envtest does: 1.36.3-linux-amd64.
func versionOfFolder(dir string) string {
	v, _ := versions.ExtractWithPlatform(versions.VersionPlatformRE, filepath.Base(dir))
	if v == nil {
		return ""
	}
	return v.String()
}

func ownVersion() versions.Concrete {
	spec, err := versions.FromExpr(Version)
	if err != nil {
		return versions.Concrete{} // a test keeps the constant well-formed
	}
	return *spec.AsConcrete()
}

// minorOf cuts 1.36.3 to 1.36.
func minorOf(version string) string {
	if i := strings.LastIndexByte(version, '.'); i >= 0 {
		return version[:i]
	}
	return version
}

func hostPlatform() versions.Platform {
	return versions.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
}

// executable is the file name of a program on this system.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
