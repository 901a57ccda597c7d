package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// The programs of a control plane, as named in a directory of assets.
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

// Source is the origin of assets.
type Source string

const (
	// fromEnvironment is the directory in KUBEBUILDER_ASSETS.
	fromEnvironment Source = "KUBEBUILDER_ASSETS"
	// fromStore is setup-envtest's store, to which Ensure downloads.
	fromStore Source = "setup-envtest"
	// fromBuild is Operon's build.
	fromBuild Source = "operon"
)

// Assets are the programs of a control plane in a directory.
type Assets struct {
	// Dir contains the programs, like KUBEBUILDER_ASSETS.
	Dir string
	// Source is their origin.
	Source Source
	// Version is their Kubernetes version, such as 1.36.3; empty if unknown.
	Version string
}

// Path returns the file of a program, such as KubeAPIServer.
func (a Assets) Path(name string) string { return filepath.Join(a.Dir, executable(name)) }

// EnsureOptions are the options of Ensure.
type EnsureOptions struct {
	// Version selects versions in the notation of setup-envtest: 1.36, 1.36.x, 1.36.3, ~1.36.1. Empty selects the minor version of
	// the constant Version.
	Version string
	// Parts are the required programs; nil means etcd and kube-apiserver.
	Parts []string
	// KubebuilderAssets is the value of the environment variable of that name.
	KubebuilderAssets string
	// StoreDirs are stores of setup-envtest; a download goes to the first.
	StoreDirs []string
	// CacheDir is the directory of Operon's caches; builds are in its subdirectory controlplane.
	CacheDir string
	// IndexURL is the URL of the list of downloads; empty means setup-envtest's.
	IndexURL string
	// NoDownload and NoBuild disable downloads and builds.
	NoDownload, NoBuild bool
	// Archive is the program in a file of the release, which is used instead of a build; nil if there is none. Mirror is a directory or
	// an https URL to read the file from, instead of the directory in its URL. Without a mirror, GOPROXY=off in Environ forbids the download.
	// HTTP sends the requests; nil for http.DefaultTransport.
	Archive *Archive
	Mirror  string
	HTTP    http.RoundTripper
	// Environ is the environment of the build.
	Environ []string
	// Progress is called with the steps that take time, each a line without a newline, never concurrently; it may be nil.
	Progress func(message string)
	// Run runs a program and waits for it; nil for RunTied.
	Run func(ctx context.Context, command Command) error
}

// DefaultOptions returns options with the directories of an environment, as far as it sets them.
func DefaultOptions(environ []string) EnsureOptions {
	o := EnsureOptions{Environ: environ, Archive: releaseArchive()}
	for _, entry := range environ {
		if dir, ok := strings.CutPrefix(entry, "KUBEBUILDER_ASSETS="); ok {
			o.KubebuilderAssets = dir
		}
		if mirror, ok := strings.CutPrefix(entry, mirrorVariable+"="); ok {
			o.Mirror = mirror
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

func (o *EnsureOptions) reportf(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

func (o *EnsureOptions) parts() []string {
	if o.Parts == nil {
		return []string{Etcd, KubeAPIServer}
	}
	return o.Parts
}

// EnsureBuilt is like Ensure for programs that setup-envtest's downloads don't contain, such as KubeControllerManager: it ignores these, and
// uses KUBEBUILDER_ASSETS only if all programs are there.
func EnsureBuilt(ctx context.Context, o EnsureOptions) (Assets, error) {
	o.NoDownload = true
	assets, err := Ensure(ctx, o)
	if err != nil && o.KubebuilderAssets != "" {
		o.KubebuilderAssets = ""
		return Ensure(ctx, o)
	}
	return assets, err
}

// Ensure returns the programs of a control plane. It uses KUBEBUILDER_ASSETS, setup-envtest's store or Operon's cache. Otherwise it
// downloads them like setup-envtest, if the index responds within seconds, takes them from the archive of the release, or builds them from
// source, which takes minutes, once.
//
// Only Operon's version can be built. It is returned if another version is neither found nor downloaded; compare Assets.Version.
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
		return Assets{}, errors.New("no directory for caches: set HOME or XDG_CACHE_HOME, or KUBEBUILDER_ASSETS to a directory with etcd and kube-apiserver")
	}

	unlock, err := o.lock(ctx)
	if err != nil {
		return Assets{}, err
	}
	defer unlock()
	// The former holder of the lock may have prepared the programs.
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
	if built := o.built(prog); built.Dir != "" { // of another version
		return built, nil
	}
	if o.NoBuild {
		return Assets{}, fmt.Errorf("downloading Kubernetes %s: %w", o.Version, notDownloaded)
	}
	return o.provide(ctx, prog)
}

// find searches all local directories. It returns zero Assets if none has the programs.
func (o *EnsureOptions) find(ctx context.Context, spec versions.Spec, prog *program) (Assets, error) {
	if dir := o.KubebuilderAssets; dir != "" {
		if missing := missingParts(dir, o.parts()); len(missing) > 0 {
			return Assets{}, fmt.Errorf("KUBEBUILDER_ASSETS=%s: %s not found; add it, or unset the variable to use the programs of Operon",
				dir, strings.Join(missing, ", "))
		}
		return Assets{Dir: dir, Source: fromEnvironment, Version: versionOfDir(dir)}, nil
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

// built returns Operon's build if the cache has it with all parts.
func (o *EnsureOptions) built(prog *program) Assets {
	if o.CacheDir == "" {
		return Assets{}
	}
	dir := filepath.Join(o.buildsDir(), prog.key(hostPlatform()))
	if len(missingParts(dir, o.parts())) > 0 {
		return Assets{}
	}
	return Assets{Dir: dir, Source: fromBuild, Version: Version}
}

func (o *EnsureOptions) buildsDir() string { return filepath.Join(o.CacheDir, "controlplane") }

// findInStore returns the newest matching version in a store of setup-envtest that is complete: an interrupted setup-envtest leaves
// incomplete directories.
func findInStore(ctx context.Context, dir string, spec versions.Spec, parts []string) (Assets, error) {
	// A store that does not exist is empty, but an error for List.
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
			return Assets{Dir: path, Source: fromStore, Version: item.Version.String()}, nil
		}
	}
	return Assets{}, nil
}

// missingParts returns the programs that are not non-empty executable files in dir.
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

// parseVersion parses setup-envtest's notation of versions.
func parseVersion(expr string) (spec versions.Spec, err error) {
	defer func() {
		// The upstream parser panics on numbers that do not fit an int.
		if recover() != nil {
			err = fmt.Errorf("version %q: a number is too large", expr)
		}
	}()
	spec, err = versions.FromExpr(strings.TrimPrefix(expr, "v"))
	if err != nil {
		return spec, fmt.Errorf("version %q: must have a form such as %s, %s or ~%s", expr, Version, minorOf(Version), Version)
	}
	return spec, nil
}

// versionOfDir returns the version in the name of a directory of setup-envtest: 1.36.3-linux-amd64.
func versionOfDir(dir string) string {
	v, _ := versions.ExtractWithPlatform(versions.VersionPlatformRE, filepath.Base(dir))
	if v == nil {
		return ""
	}
	return v.String()
}

func ownVersion() versions.Concrete {
	spec, err := versions.FromExpr(Version)
	if err != nil {
		return versions.Concrete{} // a test checks the constant
	}
	return *spec.AsConcrete()
}

// minorOf shortens 1.36.3 to 1.36.
func minorOf(version string) string {
	if i := strings.LastIndexByte(version, '.'); i >= 0 {
		return version[:i]
	}
	return version
}

func hostPlatform() versions.Platform {
	return versions.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
}

// executable returns the file name of a program on this system.
func executable(name string) string { return executableOn(runtime.GOOS, name) }

// executableOn returns the file name of a program on a system.
func executableOn(system, name string) string {
	if system == "windows" {
		return name + ".exe"
	}
	return name
}
