package image

import (
	"archive/tar"
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestImageBundle builds the image of a golden project's bundle, validates it in a registry, a layout and a tarball, and adds it
// to a catalog.
func TestImageBundle(t *testing.T) {
	t.Parallel()
	dir, host := t.TempDir(), clitest.StartRegistry(t)
	golden := clitest.Testdata("memcached-operator")
	for _, name := range []string{"PROJECT", "bundle.Dockerfile"} {
		data, err := os.ReadFile(filepath.Join(golden, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "bundle.Dockerfile" {
			data = append(data, "LABEL team=\"the newts\"\n"...)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "bundle"), os.DirFS(filepath.Join(golden, "bundle"))); err != nil {
		t.Fatal(err)
	}
	ref := host + "/team/newt-bundle:v0.0.1"
	out := imageDone(t, dir, "image", "bundle", "--image", ref, "--push", "--oci-layout", "bin/bundle", "--tarball", "b.tar")
	again := imageDone(t, dir, "image", "bundle", "--oci-layout", "bin/again")
	if digest := again[strings.Index(again, "sha256:"):]; strings.Count(out, digest[:71]) != 3 {
		t.Errorf("different digests:\n%s%s", out, again)
	}
	for _, at := range []string{ref, "bin/bundle", "b.tar", "bin/again"} {
		if code, said, errOut := imageCall(t, dir, nil, "bundle", "validate", at); code != 0 || !strings.Contains(errOut, "(0 errors, 0 warnings)") {
			t.Errorf("%s: exit code %d\n%s%s", at, code, said, errOut)
		}
	}
	config, files, _ := pulled(t, ref, "linux/amd64")
	if config.Config.Labels["team"] != "the newts" || config.Config.Labels["operators.operatorframework.io.bundle.channels.v1"] != "alpha" || files["metadata/annotations.yaml"] == "" || files["tests/scorecard/config.yaml"] == "" {
		t.Errorf("got %v with %s", config.Config.Labels, clitest.SortedKeys(files))
	}

	imageDone(t, dir, "generate", "catalog", "--bundle", ref)
	catalog := host + "/team/newt-catalog:v1"
	imageDone(t, dir, "image", "catalog", "--base", ref, "--image", catalog, "--push")
	config, files, _ = pulled(t, catalog, "linux/amd64")
	if strings.Join(config.Config.Entrypoint, " ") != "/bin/opm" || config.Config.Cmd[0] != "serve" || config.Config.Labels["operators.operatorframework.io.index.configs.v1"] != "/configs" ||
		!strings.Contains(files["configs/memcached-operator/catalog.yaml"], "image: "+ref) {
		t.Errorf("got %+v with %s", config.Config, clitest.SortedKeys(files))
	}
	imageDone(t, dir, "image", "catalog", "--base", "scratch", "--platform", "linux/amd64,linux/arm64", "--image", catalog, "--push")
	if config, _, _ = pulled(t, catalog, "linux/arm64"); len(config.Config.Entrypoint) != 0 || len(config.RootFS.DiffIDs) != 1 {
		t.Errorf("got %+v", config)
	}
}

// TestMakeCatalogBuild runs the target of a new project's Makefile without opm: the bundles of BUNDLE_IMGS join the
// catalog of the image CATALOG_BASE_IMG.
func TestMakeCatalogBuild(t *testing.T) {
	t.Parallel()
	host := clitest.StartRegistry(t)
	golden := clitest.Testdata("memcached-operator")
	bundle, base := host+"/team/memcached-bundle:v0.0.1", host+"/team/catalog:v1"
	imageDone(t, golden, "image", "bundle", "--image", bundle, "--push")

	other := clitest.NewDir(t, map[string]string{"catalog/newt/catalog.yaml": "schema: olm.package\nname: newt\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: newt\nname: stable\nentries:\n- name: newt.v1.0.0\n" +
		"---\nschema: olm.bundle\nname: newt.v1.0.0\npackage: newt\nimage: quay.io/pond/newt-bundle:v1.0.0\nproperties:\n- type: olm.package\n  value: {packageName: newt, version: 1.0.0}\n"})
	imageDone(t, other, "image", "catalog", "--base", "scratch", "--image", base, "--push")

	dir := clitest.NewProject(t, "init --domain example.com --repo example.com/memcached-operator")
	target := func() string {
		t.Helper()
		c := exec.Command("make", "catalog-build", "CONTAINER_TOOL=:", "BUNDLE_IMGS="+bundle, "CATALOG_BASE_IMG="+base)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	target()
	files := clitest.ReadTree(t, filepath.Join(dir, "catalog"))
	if !strings.Contains(files["newt/catalog.yaml"], "newt.v1.0.0") || !strings.Contains(files["memcached-operator/catalog.yaml"], "image: "+bundle) || len(files) != 2 {
		t.Errorf("the catalog has %s:\n%s", clitest.SortedKeys(files), files["memcached-operator/catalog.yaml"])
	}
	imageDone(t, dir, "catalog", "validate", "catalog")
	if again := target(); !strings.Contains(again, "note: catalog already contains a catalog, so --from-image is not read") {
		t.Errorf("the second run prints:\n%s", again)
	}
	if got := clitest.ReadTree(t, filepath.Join(dir, "catalog")); !maps.Equal(got, files) {
		t.Error("the second run changed the catalog")
	}

	for ref, want := range map[string]string{bundle: "is not a catalog image: it has no label", host + "/team/none:v1": "none"} {
		if code, _, errOut := imageCall(t, t.TempDir(), nil, "generate", "catalog", "--bundle", bundle, "--from-image", ref); code == 0 || !strings.Contains(errOut, want) {
			t.Errorf("--from-image %s: exit code %d: %s", ref, code, errOut)
		}
	}
}

// TestImageBundleRefused checks errors of the Dockerfile of a bundle.
func TestImageBundleRefused(t *testing.T) {
	t.Parallel()
	good := "FROM scratch\nLABEL a=b\nCOPY bundle /manifests/\n"
	for _, c := range []struct {
		name, file, args string
		code             int
		want             string
	}{
		{"none", "", "--tarball x.tar", 1, "bundle.Dockerfile: no such file; 'operon bundle' writes it"},
		{"another", "", "-f other.Dockerfile --tarball x.tar", 2, "other.Dockerfile: no such file"},
		{"nowhere", good, "", 2, "--push, --tarball FILE or --oci-layout DIR is required"},
		{"instruction", good + "RUN make\nCMD x\n", "--tarball x.tar", 1, "bundle.Dockerfile:4: has the instruction RUN, which needs a builder; build this image with docker or podman, or remove the line\nerror: bundle.Dockerfile:5: has the instruction CMD"},
		{"options", good + "COPY --chown=1 bundle /x/\n", "--tarball x.tar", 1, "bundle.Dockerfile:4: is unsupported; use COPY FROM TO"},
		{"up", good + "COPY ../secret /x/\n", "--tarball x.tar", 1, "bundle.Dockerfile:4: must copy from a directory next to the Dockerfile"},
		{"missing", good + "COPY nothing /x/\n", "--tarball x.tar", 1, "bundle.Dockerfile:4: nothing not found"},
		{"empty", "# nothing\n", "--tarball x.tar", 1, "bundle.Dockerfile: needs FROM, LABEL and COPY"},
		{"twice", good + "COPY bundle /manifests/\n", "--tarball x.tar", 1, "duplicate entry manifests/"},
		{"platform", good, "--tarball x.tar --platform x", 2, `--platform "x": must be OS/ARCH`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"bundle/csv.yaml": "x"}
			if c.file != "" {
				files["bundle.Dockerfile"] = c.file
			}
			dir := clitest.NewDir(t, files)
			code, out, errOut := imageCall(t, dir, nil, append([]string{"image", "bundle"}, strings.Fields(c.args)...)...)
			if code != c.code || out != "" || !strings.Contains(errOut, c.want) {
				t.Errorf("exit code %d\n%s%s", code, out, errOut)
			}
			if _, err := os.Stat(filepath.Join(dir, "x.tar")); err == nil {
				t.Error("something was written")
			}
		})
	}
	dir := clitest.NewDir(t, map[string]string{"bundle.Dockerfile": good, "bundle/a.yaml": "x"})
	clitest.Symlink(t, "/etc/passwd", filepath.Join(dir, "bundle", "l.yaml"))
	if code, _, errOut := imageCall(t, dir, nil, "image", "bundle", "--tarball", "x.tar"); code != 1 || !strings.Contains(errOut, "bundle/l.yaml: is not a regular file") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}

// TestImageSaveLoad copies two images to another registry with the same digests.
func TestImageSaveLoad(t *testing.T) {
	t.Parallel()
	here, there := clitest.StartRegistry(t), clitest.StartRegistry(t)
	dir := clitest.NewDir(t, map[string]string{"bundle.Dockerfile": "FROM scratch\nLABEL a=b\nCOPY bundle /manifests/\n", "bundle/csv.yaml": "x"})
	one, two := here+"/team/one:v1", here+"/team/two:v2"
	first := imageDone(t, dir, "image", "bundle", "--image", one, "--push")
	second := imageDone(t, dir, "image", "bundle", "--image", two, "--push", "--platform", "linux/amd64,linux/arm64")
	digest := func(out string) string { return out[strings.LastIndex(out, "@"):] }
	if digest(first) == digest(second) {
		t.Fatal("both images are the same")
	}
	for _, c := range []struct {
		save, load string
		want       string
	}{
		{"--tarball a.tar " + one + " " + two, "a.tar --registry " + there + "/mirror", there + "/mirror/team/one" + digest(first) + "pushed   " + there + "/mirror/team/two" + digest(second)},
		{"--oci-layout a " + one + " " + two, "a --registry " + there, there + "/team/one" + digest(first) + "pushed   " + there + "/team/two" + digest(second)},
		{"--oci-layout b a:" + two, "b " + there + "/other:v3", there + "/other" + digest(second)},
		{"", two + " " + there + "/direct:v4", there + "/direct" + digest(second)},
		{"", "a.tar:v1 " + there + "/direct:v5", there + "/direct" + digest(first)},
	} {
		if c.save != "" {
			imageDone(t, dir, append([]string{"image", "save"}, strings.Fields(c.save)...)...)
		}
		if out := imageDone(t, dir, append([]string{"image", "load"}, strings.Fields(c.load)...)...); out != "pushed   "+c.want {
			t.Errorf("%s: got\n%s, want\n%s", c.load, out, c.want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "evil.tar"), escaping(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"save " + one, 2, "or --oci-layout is required"},
		{"save", 2, "name the images to save"},
		{"save --tarball c.tar " + here + "/no:v1 " + here + "/none:v1", 1, "image " + here + "/no:v1: " + here + " has no v1; push the image first, or correct the reference\nerror: image " + here + "/none:v1: "},
		{"save --tarball c.tar evil.tar", 1, `image evil.tar: contains the entry "../evil" outside of its root directory`},
		{"load evil.tar --registry " + there, 1, "outside of its root directory"},
		{"load a.tar " + there + "/x1:v1", 2, `SOURCE "a.tar": contains 2 images (` + one + ", " + two + ")"},
		{"load a.tar", 2, "takes a source, and either an image's new name or --registry"},
		{"load a.tar x/y:1 --registry z", 2, "takes a source, and either"},
		{"load a.tar Y", 2, `IMAGE "Y": must be in lower case before the tag`},
		{"load nope.tar --registry " + there, 1, "image nope.tar: file does not exist here"},
	} {
		code, out, errOut := imageCall(t, dir, nil, append([]string{"image"}, strings.Fields(c.args)...)...)
		if code != c.code || out != "" || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: exit code %d\n%s%s", c.args, code, out, errOut)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "c.tar")); err == nil {
		t.Error("a tarball was written of what is not there")
	}
}

// escaping returns a tarball with an entry outside of its root.
func escaping(t *testing.T) []byte {
	t.Helper()
	return tarball(t, "index.json", `{"manifests":[]}`, "../evil", "x")
}

// tarball returns a tarball of files: name, content, name, content.
func tarball(t *testing.T, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
