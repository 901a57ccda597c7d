package images

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Recipe is how an image is made of programs.
type Recipe struct {
	// Name is what pods call the image.
	Name string
	// Files says which program each file of the image is, or which file of this machine, with its whole path.
	Files map[string]string
	// Entrypoint starts the image's main program, with Arguments unless a pod brings its own.
	Entrypoint, Arguments []string
	// User is a number, and a group's after a colon.
	User string
}

// Cluster are the images that every cluster needs, and memcached's stand-in, which is as small.
func Cluster(pause string) []Recipe {
	return []Recipe{
		{Name: pause, Files: map[string]string{"/pause": "pause"}, Entrypoint: []string{"/pause"}, User: "65535:65535"},
		{Name: CoreDNS, Files: map[string]string{"/coredns": "coredns"}, Entrypoint: []string{"/coredns"}, User: "65532:65532"},
		{
			Name: Memcached, Files: map[string]string{"/usr/local/bin/memcached": "memcached", "/usr/local/bin/dial": "dial"},
			Entrypoint: []string{"memcached"}, User: "11211",
		},
	}
}

// The images of OLM and of the programs that tests run, as their manifests name them.
const (
	CoreDNS   = "registry.k8s.io/coredns/coredns:v1.12.4"
	OLM       = "quay.io/operator-framework/olm:v0.46.0"
	OPM       = "quay.io/operator-framework/opm:v1.73.0"
	Memcached = "docker.io/library/memcached:1.6.39-alpine"
)

// OLMImages are what OLM runs.
func OLMImages() []Recipe {
	return []Recipe{
		{
			Name: OLM, Files: map[string]string{
				"/bin/olm": "olm", "/bin/catalog": "catalog", "/bin/package-server": "package-server",
				"/bin/copy-content": "copy-content", "/bin/cpb": "cpb", "/bin/cp": "cp",
			},
			Entrypoint: []string{"/bin/olm"}, User: "1001",
		},
		{Name: OPM, Files: opmFiles(), Entrypoint: []string{"/bin/opm"}, User: "1001"},
		// What OLM names where its flags name no other.
		{Name: "quay.io/operator-framework/opm:latest", Files: opmFiles(), Entrypoint: []string{"/bin/opm"}, User: "1001"},
	}
}

// ScorecardTest is the image with the built-in tests of scorecard, as a new project's configuration names it.
const ScorecardTest = "quay.io/operator-framework/scorecard-test:v1.42.3"

// Scorecard are the images of a run of scorecard: builtIn has the built-in tests, which are in the program at the path
// operon, and box has what unpacks bundles and hands files out.
func Scorecard(operon, builtIn, box string) []Recipe {
	return []Recipe{
		{Name: builtIn, Files: map[string]string{"/usr/local/bin/scorecard-test": operon}, User: "65532:65532"},
		{Name: box, Files: map[string]string{"/bin/tar": "box", "/bin/sh": "box", "/bin/sleep": "box", "/bin/failing-test": "box"}, User: "65532:65532"},
	}
}

func opmFiles() map[string]string {
	return map[string]string{"/bin/opm": "opm", "/bin/grpc_health_probe": "grpc_health_probe"}
}

// Image makes the image of a recipe from the programs in dirs.
func (r Recipe) Image(dirs ...string) (v1.Image, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	// Programs may write there, as in images that people make.
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return nil, err
	}
	made := map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(r.Files)) {
		for _, folder := range parents(file) {
			if made[folder] {
				continue
			}
			made[folder] = true
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755}); err != nil {
				return nil, err
			}
		}
		data, err := readFirst(dirs, r.Files[file])
		if err != nil {
			return nil, err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(file, "/"), Mode: 0o755, Size: int64(len(data))}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	// It goes to this machine only, where compression takes longer than it saves.
	image, err := mutate.AppendLayers(empty.Image, static.NewLayer(layer.Bytes(), types.DockerUncompressedLayer))
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, configFile(image, r))
}

// readFirst reads a file from the first of some folders that has it, unless it brings its own.
func readFirst(dirs []string, file string) (data []byte, err error) {
	if filepath.IsAbs(file) {
		return os.ReadFile(file)
	}
	for _, dir := range dirs {
		if data, err = os.ReadFile(filepath.Join(dir, file)); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return data, err
}

func configFile(image v1.Image, r Recipe) *v1.ConfigFile {
	file, err := image.ConfigFile()
	if err != nil {
		file = &v1.ConfigFile{}
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config = v1.Config{
		Entrypoint: r.Entrypoint, Cmd: r.Arguments, User: r.User,
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}
	return file
}

// parents are the folders that a file is in, outermost first, without leading slashes.
func parents(file string) []string {
	var found []string
	for folder := path.Dir(file); folder != "/"; folder = path.Dir(folder) {
		found = append(found, strings.TrimPrefix(folder, "/"))
	}
	slices.Reverse(found)
	return found
}

// Push makes images from the programs in dirs and puts them into the registry at host, below their own names
// without that of their own registry.
func Push(ctx context.Context, host string, dirs []string, recipes []Recipe) error {
	for _, r := range recipes {
		image, err := r.Image(dirs...)
		if err != nil {
			return fmt.Errorf("making the image %s: %w", r.Name, err)
		}
		if err := PushImage(ctx, host, r.Name, image); err != nil {
			return err
		}
	}
	return nil
}

// PushImage puts an image into the registry at host, as one that pods know by another registry's name.
func PushImage(ctx context.Context, host, ref string, image v1.Image) error {
	own, err := name.ParseReference(ref)
	if err != nil {
		return err
	}
	target, err := name.NewTag(host+"/"+own.Context().RepositoryStr()+":"+own.Identifier(), name.Insecure)
	if err != nil {
		return err
	}
	if err := remote.Write(target, image, remote.WithContext(ctx), remote.WithTransport(&http.Transport{})); err != nil {
		return fmt.Errorf("pushing the image %s: %w", ref, err)
	}
	return nil
}
