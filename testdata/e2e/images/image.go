package images

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Recipe is how an image is made of programs.
type Recipe struct {
	// Name is what pods call the image.
	Name string
	// Programs are the files to take, and Folder is where in the image to put them.
	Programs []string
	Folder   string
	// Entrypoint starts the image's main program.
	Entrypoint []string
	// User is a number, and a group's after a colon.
	User string
}

// Cluster are the images that every cluster needs, and memcached's stand-in, which is as small.
func Cluster(pause string) []Recipe {
	return []Recipe{
		{Name: pause, Programs: []string{"pause"}, Folder: "/", Entrypoint: []string{"/pause"}, User: "65535:65535"},
		{Name: CoreDNS, Programs: []string{"coredns"}, Folder: "/", Entrypoint: []string{"/coredns"}, User: "65532:65532"},
		{
			Name: Memcached, Programs: []string{"memcached"}, Folder: "/usr/local/bin",
			Entrypoint: []string{"memcached"}, User: "11211",
		},
	}
}

// The images of OLM and of the programs that tests run, as their manifests name them.
const (
	CoreDNS   = "registry.k8s.io/coredns/coredns:v1.12.4"
	OLM       = "quay.io/operator-framework/olm:v0.46.0"
	OPM       = "quay.io/operator-framework/opm:latest"
	Memcached = "docker.io/library/memcached:1.6.39-alpine"
)

// OLMImages are what OLM runs.
func OLMImages() []Recipe {
	return []Recipe{
		{
			Name: OLM, Programs: []string{"olm", "catalog", "package-server", "copy-content", "cpb", "cp"}, Folder: "/bin",
			Entrypoint: []string{"/bin/olm"}, User: "1001",
		},
		{Name: OPM, Programs: []string{"opm"}, Folder: "/bin", Entrypoint: []string{"/bin/opm"}, User: "1001"},
	}
}

// Image makes the image of a recipe from the programs in dirs.
func (r Recipe) Image(dirs ...string) (v1.Image, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for folder := range parents(r.Folder) {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755}); err != nil {
			return nil, err
		}
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return nil, err
	}
	for _, program := range r.Programs {
		data, err := readFirst(dirs, program)
		if err != nil {
			return nil, err
		}
		file := strings.TrimPrefix(path.Join(r.Folder, program), "/")
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: file, Mode: 0o755, Size: int64(len(data))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	content := layer.Bytes()
	added, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithCompressionLevel(1))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, added)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, configFile(image, r))
}

// readFirst reads a file from the first of some folders that has it.
func readFirst(dirs []string, file string) (data []byte, err error) {
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
		Entrypoint: r.Entrypoint, User: r.User,
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}
	return file
}

// parents are a folder and those that it is in, outermost first, without leading slashes.
func parents(folder string) func(func(string) bool) {
	return func(yield func(string) bool) {
		whole := ""
		for part := range strings.SplitSeq(strings.Trim(folder, "/"), "/") {
			whole = path.Join(whole, part)
			if whole != "" && !yield(whole) {
				return
			}
		}
	}
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
