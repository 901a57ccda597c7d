package controlplane

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"

	"github.com/operon-sdk/operon/templates"
)

// Version is the Kubernetes version that Ensure builds, without v: that in templates/controlplane/go.mod.tmpl.
const Version = "1.36.3"

const kubernetesModule = "k8s.io/kubernetes"

// program is the source of the multi-call binary with etcd, kube-apiserver and the other programs.
type program struct {
	// files are the module's files by name.
	files map[string][]byte
	// version is the Kubernetes version, with a leading v.
	version string
}

// loadProgram reads the program from the templates, which have no actions. Versions are pinned in its go.mod and go.sum.
func loadProgram() (*program, error) {
	const dir = "controlplane"
	entries, err := fs.ReadDir(templates.FS, dir)
	if err != nil {
		return nil, fmt.Errorf("reading the control plane's program: %w", err)
	}
	p := &program{files: map[string][]byte{}}
	for _, entry := range entries {
		data, err := fs.ReadFile(templates.FS, path.Join(dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the control plane's program: %w", err)
		}
		// A checkout on Windows can add carriage returns, which would change the key.
		p.files[strings.TrimSuffix(entry.Name(), ".tmpl")] = []byte(strings.ReplaceAll(string(data), "\r\n", "\n"))
	}
	mod, err := modfile.ParseLax("go.mod", p.files["go.mod"], nil)
	if err != nil {
		return nil, fmt.Errorf("reading the control plane's program: %w", err)
	}
	for _, require := range mod.Require {
		if require.Mod.Path == kubernetesModule {
			p.version = require.Mod.Version
		}
	}
	if !semver.IsValid(p.version) {
		return nil, fmt.Errorf("reading the control plane's program: go.mod does not require %s", kubernetesModule)
	}
	return p, nil
}

// key returns the name of the program built for a platform, in the cache and in archives: version, platform, and a hash of the source and
// the arguments. It does not contain the version of Go, so that patch releases of Go do not cause a new build.
func (p *program) key(target versions.Platform) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		fmt.Fprintf(h, "%s %d\n", name, len(p.files[name]))
		h.Write(p.files[name])
	}
	fmt.Fprintln(h, p.buildArgs("out"))
	return fmt.Sprintf("%s-%s-%s-%s", strings.TrimPrefix(p.version, "v"), target.OS, target.Arch,
		hex.EncodeToString(h.Sum(nil))[:12])
}

// partsOf returns the names of all parts of the program built for a platform.
func partsOf(target versions.Platform) []string {
	parts := []string{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kubectl}
	if target.OS == "linux" {
		parts = append(parts, Kubelet, KubeProxy)
	}
	return parts
}

// buildArgs returns the arguments of go that build the program.
func (p *program) buildArgs(out string) []string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(p.version), "v"), ".")
	flags := []string{"-s", "-w"}
	// Kubernetes learns its version at link time; without it the server reports v0.0.0.
	for _, pkg := range []string{"k8s.io/client-go/pkg/version", "k8s.io/component-base/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+p.version,
			"-X", pkg+".gitMajor="+major,
			"-X", pkg+".gitMinor="+minor,
			"-X", pkg+".gitTreeState=archive",
		)
	}
	return []string{
		"build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false",
		"-ldflags=" + strings.Join(flags, " "), "-o", out, ".",
	}
}
