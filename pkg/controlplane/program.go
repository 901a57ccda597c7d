package controlplane

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/templates"
)

// Version is the Kubernetes version that Ensure builds, without a leading v. It is the one that
// templates/controlplane/go.mod.tmpl requires.
const Version = "1.36.3"

const kubernetesModule = "k8s.io/kubernetes"

// program is the source of the multi-call binary that is etcd, kube-apiserver and the others.
type program struct {
	// files are the module's files by name.
	files map[string][]byte
	// version is the Kubernetes version, with a leading v.
	version string
}

// loadProgram reads the program from the templates. They hold no actions: the pinned versions are in
// its go.mod, where Go's tools check them against go.sum.
func loadProgram() (*program, error) {
	const folder = "controlplane"
	entries, err := fs.ReadDir(templates.FS, folder)
	if err != nil {
		return nil, fmt.Errorf("reading the control plane's program: %w", err)
	}
	p := &program{files: map[string][]byte{}}
	for _, entry := range entries {
		data, err := fs.ReadFile(templates.FS, path.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the control plane's program: %w", err)
		}
		// A checkout on Windows may have brought carriage returns in, which would change the key.
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
		return nil, fmt.Errorf("reading the control plane's program: go.mod requires no %s", kubernetesModule)
	}
	return p, nil
}

// key names the built program in the cache: what it is for a reader, and a hash of all that goes into
// it. The version of Go is not part of it: a new patch release of Go is no reason to build again for
// minutes what works already.
func (p *program) key() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		fmt.Fprintf(h, "%s %d\n", name, len(p.files[name]))
		h.Write(p.files[name])
	}
	fmt.Fprintln(h, p.buildArgs("out"))
	return fmt.Sprintf("%s-%s-%s-%s", strings.TrimPrefix(p.version, "v"), runtime.GOOS, runtime.GOARCH,
		hex.EncodeToString(h.Sum(nil))[:12])
}

// buildArgs are the arguments to go that build the program into the file out.
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
