package codegen

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fixtureEdits are edits that change most generated files of the fixtures.
var fixtureEdits = map[string][][3]string{
	"shapes": {
		{"api/v1/odd_types.go", "Ok  bool ", "Okay bool"},
		{"pkg/shared/shared.go", "Gold;Silver;Bronze", "Gold;Silver"},
		{"api/v1beta1/shape_types.go", "// ShapeSpec borrows", "// ShapeSpec no longer borrows"},
		{"internal/controller/shape_controller.go", "resources=shapes,verbs=get;list", "resources=shapes,verbs=list"},
		{"internal/webhook/shape_webhook.go", "timeoutSeconds=5", "timeoutSeconds=6"},
		{"api/cluster/v1alpha1/canvas_types.go", "Width  int64", "Height int64"},
	},
	"nested":    {{"extra/api/v1/extra_types.go", "Minimum=3", "Minimum=4"}},
	"groupless": {{"api/thing.go", "of some size", "of any size"}},
	"bare":      {{"cmd/main.go", "nothing", "still nothing"}},
}

func TestSameAsControllerGen(t *testing.T) {
	t.Parallel()
	for name, edits := range fixtureEdits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs, ours, cache := fixture(t, name), fixture(t, name), t.TempDir()
			want := runPeer(t, theirs)
			checkWritesTheSame(t, name, theirs)
			sameFiles(t, "without a cache", generate(t, Options{Env: os.Environ(), Root: ours}), want)
			sameFiles(t, "with a cold cache", generate(t, Options{Env: os.Environ(), Root: ours, CacheDir: cache}), want)
			sameFiles(t, "with a warm cache", generate(t, Options{Env: os.Environ(), Root: ours, CacheDir: cache}), want)
			for file, content := range want {
				write(t, ours, file, string(content))
			}
			sameFiles(t, "over its own files", generate(t, Options{Env: os.Environ(), Root: ours, CacheDir: cache}), want)

			for _, e := range edits {
				edit(t, theirs, e[0], e[1], e[2])
				edit(t, ours, e[0], e[1], e[2])
			}
			// Files that the peer does not change count, too.
			runPeer(t, theirs)
			after := map[string][]byte{}
			for file := range want {
				after[file] = []byte(read(t, theirs, file))
			}
			sameFiles(t, "after edits", generate(t, Options{Env: os.Environ(), Root: ours, CacheDir: cache}), after)
			sameFiles(t, "after edits, again", generate(t, Options{Env: os.Environ(), Root: ours, CacheDir: cache}), after)
			sameFiles(t, "after edits, without a cache", generate(t, Options{Env: os.Environ(), Root: ours}), after)
			if name != "bare" && bytes.Equal(after[firstOf(after)], want[firstOf(after)]) && len(after) == 1 {
				t.Error("the edits have no effect")
			}
		})
	}
}

func firstOf(files map[string][]byte) string {
	for name := range files {
		return name
	}
	return ""
}

// checkWritesTheSame runs ControllerGen with the arguments of controller-gen and compares the trees.
func checkWritesTheSame(t *testing.T, name, theirs string) {
	t.Helper()
	ours := fixture(t, name)
	for _, args := range [][]string{objectArgs(), manifestArgs()} {
		var out, errOut bytes.Buffer
		if err := ControllerGen(context.Background(), args, &out, &errOut, ours, os.Environ()); err != nil {
			t.Fatalf("%v\n%s", err, errOut.String())
		}
		if out.Len()+errOut.Len() > 0 {
			t.Errorf("printed %q and %q", out.String(), errOut.String())
		}
	}
	sameFiles(t, "the tree", tree(t, ours), tree(t, theirs))
}

// TestSingleGenerators compares the files of single generators with the files of all generators.
func TestSingleGenerators(t *testing.T) {
	t.Parallel()
	dir, cache := fixture(t, "shapes"), t.TempDir()
	parts := map[string][]byte{}
	for _, generator := range []Generators{Object, CRD, RBAC, Webhook} {
		files := generate(t, Options{Env: os.Environ(), Root: dir, Generators: generator, CacheDir: cache})
		if len(files) == 0 {
			t.Errorf("generator %d: no files", generator)
		}
		maps.Copy(parts, files)
	}
	sameFiles(t, "all at once", generate(t, Options{Env: os.Environ(), Root: dir}), parts)
}

func TestOutputDirectories(t *testing.T) {
	t.Parallel()
	dir := fixture(t, "shapes")
	files := generate(t, Options{Env: os.Environ(), Root: dir, Calls: calls("rbac:roleName=boss crd webhook paths=./... " +
		"output:dir=deploy output:crd:dir=deploy/crds output:webhook:artifacts:config=deploy/hooks")})
	for _, name := range []string{"deploy/crds/canvas.example.com_canvas.yaml", "deploy/role.yaml", "deploy/hooks/manifests.yaml"} {
		if _, ok := files[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	if !strings.Contains(string(files["deploy/role.yaml"]), "name: boss") {
		t.Error("deploy/role.yaml does not contain name: boss")
	}
}

// TestOverlayEqualsDisk expects the same result for files on disk and in the overlay.
func TestOverlayEqualsDisk(t *testing.T) {
	skipIfShort(t, "it loads the types of many packages several times")
	t.Parallel()
	for _, cached := range []bool{false, true} {
		full, part := fixture(t, "shapes"), fixture(t, "shapes")
		cache := ""
		if cached {
			cache = t.TempDir()
		}
		// The disk contains removed and outdated files, and no go.sum and no API package.
		write(t, part, "api/v1/doomed_types.go", "package v1\n\n// +kubebuilder:object:root=true\ntype Doomed struct{ broken\n")
		write(t, part, "api/v1beta1/shape_types.go", "package v1beta1\n\ntype Stale struct{}\n")
		overlay := map[string][]byte{"api/v1/doomed_types.go": nil, "never/was.go": nil}
		for name, content := range tree(t, full) {
			if strings.HasPrefix(name, "api/") || strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "pkg/") ||
				name == "go.sum" || name == "hack/boilerplate.go.txt" {
				overlay[name] = content
			}
		}
		for _, removed := range []string{
			"api/cluster", "internal", "pkg", "go.sum", "hack",
			"api/v1/groupversion_info.go", "api/v1/shape_types.go", "api/v1/odd_types.go",
		} {
			if err := os.RemoveAll(filepath.Join(part, filepath.FromSlash(removed))); err != nil {
				t.Fatal(err)
			}
		}
		before := tree(t, part)
		want := generate(t, Options{Env: os.Environ(), Root: full})
		sameFiles(t, "overlay", generate(t, Options{Env: os.Environ(), Root: part, Overlay: overlay, CacheDir: cache}), want)
		sameFiles(t, "overlay, again", generate(t, Options{Env: os.Environ(), Root: part, Overlay: overlay, CacheDir: cache}), want)
		sameFiles(t, "the disk", tree(t, part), before)
		link := filepath.Join(realTemp(t), "link")
		if err := os.Symlink(part, link); err == nil {
			linked := generate(t, Options{Env: os.Environ(), Root: link, Overlay: overlay, CacheDir: cache})
			sameFiles(t, "overlay below a link", linked, want)
		}
	}
}

func TestOverlayOutsideOfRoot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../out.go", "/etc/out.go", ".."} {
		overlay := map[string][]byte{name: []byte("package out\n")}
		_, err := Generate(context.Background(), Options{Env: os.Environ(), Root: fixture(t, "bare"), Overlay: overlay})
		if err == nil || !strings.Contains(err.Error(), "outside of the module") {
			t.Errorf("overlay %s: got %v, want an error", name, err)
		}
	}
}

// TestKeepVersion expects CRDs of another controller-gen to remain until they change.
func TestKeepVersion(t *testing.T) {
	t.Parallel()
	const name = "config/crd/bases/canvas.example.com_canvas.yaml"
	dir := fixture(t, "shapes")
	opts := Options{Env: os.Environ(), Root: dir, Generators: CRD, CacheDir: t.TempDir(), KeepVersion: true}
	made := generate(t, opts)
	old := strings.Replace(string(made[name]), controllerToolsVersion, "v0.14.0", 1)
	write(t, dir, name, old)
	if got := string(generate(t, opts)[name]); got != old {
		t.Error("the version was replaced")
	}
	opts.KeepVersion = false
	if got := generate(t, opts)[name]; !bytes.Equal(got, made[name]) {
		t.Error("the version remains without the option")
	}
	opts.KeepVersion = true
	write(t, dir, name, strings.Replace(old, "type: object", "type: string", 1))
	if got := generate(t, opts)[name]; !bytes.Equal(got, made[name]) {
		t.Error("an outdated file remains")
	}
}
