package image

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/testdata/ansible"
)

// ansibleProject is a project with a role and a playbook, and an image with an init program in the directory base.
func ansibleProject(t *testing.T, more map[string]string) string {
	t.Helper()
	files := map[string]string{
		"PROJECT": "domain: example.com\nlayout:\n- ansible.sdk.operatorframework.io/v1\nprojectName: pond\nversion: \"3\"\n",
		"watches.yaml": "- {group: cache.example.com, version: v1, kind: Pond, role: pond, finalizer: {name: cache.example.com/pond, playbook: playbooks/delete.yml}}\n" +
			"- {version: v1, kind: Newt, playbook: newt.yml}\n- {version: v1, kind: Frog, role: /opt/ansible/other/frog}\n- {version: v1, kind: Toad, role: $TOAD}\n",
		"roles/pond/tasks/main.yml":           "[]\n",
		"roles/pond/files/run":                "#!/bin/sh\n",
		"roles/pond/library/__pycache__/a.py": "x",
		"roles/.placeholder":                  "",
		"playbooks/delete.yml":                "[]\n",
		"newt.yml":                            "[]\n",
		"unused.yml":                          "[]\n",
		"other/frog/tasks/main.yml":           "[]\n",
		"config/manager/manager.yaml":         "# not part of the image\n",
	}
	maps.Copy(files, more)
	dir := clitest.NewDir(t, files)
	if err := os.Chmod(filepath.Join(dir, "roles/pond/files/run"), 0o755); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(0, 0)
	layer, err := image.NewLayer("a file", []image.File{image.Text("usr/bin/python3", 0o755, []byte("python"))}, at)
	if err != nil {
		t.Fatal(err)
	}
	recipe := image.Recipe{
		Base: image.Scratch, Entrypoint: []string{"/tini", "-g", "--", "/usr/local/bin/ansible-operator", "run"}, Env: []string{"HOME=/", "ANSIBLE_ROLES_PATH=/own", "OTHER=1"}, Created: at,
	}
	for _, platform := range []string{"linux/amd64", "linux/arm64"} {
		recipe.Parts = append(recipe.Parts, image.Part{Platform: platform, Layers: []*image.Layer{layer}})
	}
	base, err := image.Options{}.Build(t.Context(), recipe)
	if err == nil {
		err = image.WriteLayout(t.Context(), afero.NewOsFs(), filepath.Join(dir, "base"), []*image.Image{base})
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// withRuntime sets the program operon-runtime, and a cache for the test.
func withRuntime(t *testing.T, env ...string) func(*cmd.Env) {
	t.Helper()
	program, cache := buildRuntime(t, append([]string{"CGO_ENABLED=0", "GOOS=linux"}, env...)...), t.TempDir()
	return func(e *cmd.Env) {
		e.Runtime, e.CacheDir = func() (string, error) { return program, nil }, cache
	}
}

// TestImageBuildAnsible checks the image of an Ansible project: the program, the roles and playbooks, and how a container starts.
func TestImageBuildAnsible(t *testing.T) {
	t.Parallel()
	dir, host, own := ansibleProject(t, nil), clitest.StartRegistry(t), withRuntime(t)
	clitest.Symlink(t, "run", filepath.Join(dir, "roles", "pond", "files", "link"))
	clitest.Symlink(t, "../roles", filepath.Join(dir, "playbooks", "roles"))
	platform := "linux/" + runtime.GOARCH
	for _, name := range []string{"pond:v1", "pond:again"} {
		if code, out, errOut := imageCall(t, dir, own, "-q", "image", "build", "--base", "base", "--image", host+"/"+name, "--push"); code != 0 {
			t.Fatalf("exit code %d\n%s%s", code, out, errOut)
		}
	}
	config, files, headers := pulled(t, host+"/pond:v1", platform)
	again, _, _ := pulled(t, host+"/pond:again", platform)
	if !slices.Equal(config.RootFS.DiffIDs, again.RootFS.DiffIDs) {
		t.Error("a second build has other layers")
	}
	c := config.Config
	if c.User != "1001:0" || c.WorkingDir != "/opt/ansible" || !slices.Equal(c.Env, []string{"ANSIBLE_ROLES_PATH=/own", "OTHER=1", "HOME=/opt/ansible", "USER=ansible"}) ||
		!slices.Equal(c.Entrypoint, []string{"/tini", "-g", "--", "/usr/local/bin/ansible-operator", "run", "--watches-file=./watches.yaml"}) {
		t.Errorf("got %+v", c)
	}
	for _, name := range []string{"watches.yaml", "roles/pond/tasks/main.yml", "roles/.placeholder", "playbooks/delete.yml", "newt.yml", "other/frog/tasks/main.yml"} {
		if h := headers["opt/ansible/"+name]; h == nil || h.Mode != 0o644 {
			t.Errorf("%s is %+v", name, h)
		}
	}
	for name := range headers {
		if strings.Contains(name, "config") || strings.HasSuffix(name, "PROJECT") || strings.Contains(name, "__pycache__") || strings.Contains(name, "unused") {
			t.Errorf("the image contains %s", name)
		}
	}
	if link := headers["opt/ansible/roles/pond/files/link"]; link == nil || link.Linkname != "run" {
		t.Errorf("the link is %+v", link)
	}
	if link := headers["opt/ansible/playbooks/roles"]; link == nil || link.Linkname != "../roles" {
		t.Errorf("the link is %+v", link)
	}
	if runtime.GOOS != "windows" && headers["opt/ansible/roles/pond/files/run"].Mode != 0o755 {
		t.Error("the script is not executable")
	}
	// Platforms such as OpenShift choose the user, in group 0.
	for _, name := range []string{"opt/ansible", "opt/ansible/.ansible", "opt/ansible/.ansible/tmp"} {
		if h := headers[name]; h == nil || h.Uid != 1001 || h.Gid != 0 || h.Mode&0o070 != 0o070 {
			t.Errorf("%s is %+v", name, h)
		}
	}
	if h := headers["usr/local/bin/ansible-operator"]; h == nil || h.Mode&0o555 != 0o555 || files["usr/bin/python3"] != "python" {
		t.Errorf("the program is %+v", h)
	}

	// A base with the program needs no other.
	imageDone(t, dir, "-q", "image", "build", "--image", host+"/next:v1", "--base", host+"/pond:v1", "--runtime", "base", "--push")
	next, _, _ := pulled(t, host+"/next:v1", platform)
	if len(next.RootFS.DiffIDs) != len(config.RootFS.DiffIDs)+1 || !slices.Equal(next.Config.Entrypoint, c.Entrypoint) {
		t.Errorf("got %+v", next)
	}
}

// TestImageBuildAnsiblePlatforms checks that an image for two platforms has the program for each.
func TestImageBuildAnsiblePlatforms(t *testing.T) {
	t.Parallel()
	dir, host := ansibleProject(t, nil), clitest.StartRegistry(t)
	amd64 := buildRuntime(t, "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	arm64 := buildRuntime(t, "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	imageDone(t, dir, "-q", "image", "build", "--image", host+"/pond:v1", "--base", "base", "--push", "--platform", "linux/amd64,linux/arm64", "--runtime", amd64+","+arm64)
	programs := map[string]bool{}
	for _, platform := range []string{"linux/amd64", "linux/arm64"} {
		config, files, _ := pulled(t, host+"/pond:v1", platform)
		programs[files["usr/local/bin/ansible-operator"]] = true
		if "linux/"+config.Architecture != platform || files["opt/ansible/watches.yaml"] == "" {
			t.Errorf("%s: got %+v", platform, config)
		}
	}
	if len(programs) != 2 {
		t.Error("both platforms have the same program")
	}
}

// TestImageBuildAnsibleBad checks that projects whose operator would not start are refused before anything is built.
func TestImageBuildAnsibleBad(t *testing.T) {
	t.Parallel()
	dir, own := ansibleProject(t, map[string]string{"roles/file": ""}), withRuntime(t)
	for _, c := range []struct {
		watches string
		args    []string
		code    int
		want    []string
	}{
		{"- {version: v1, kind: A, role: gone}\n- {version: v1, kind: B, playbook: playbooks/gone.yml}\n- {version: v1, kind: C, role: /opt/ansible/roles/gone}\n" +
			"- {version: v1, kind: D, role: pond, finalizer: {name: x.example.com/y, role: file}}\n- {version: v1, kind: E}\n- {version: v1, kind: F, playbook: /etc/passwd}\n" +
			"- {version: v1, kind: G, playbook: ../outside.yml}\n", nil, 1,
			[]string{
				`watches.yaml:1:3: role "gone": the image would have no such role`, `watches.yaml:2:3: playbook "playbooks/gone.yml": the image would have no such file`,
				`watches.yaml:3:3: role "/opt/ansible/roles/gone"`, `watches.yaml:4:3: role "file"`, "watches.yaml:5:3: E has neither a playbook nor a role",
				`watches.yaml:6:3: playbook "/etc/passwd"`, `watches.yaml:7:3: playbook "../outside.yml"`,
			}},
		{"- {version: v1, kind: A, role: example.util.gone}\n", nil, 1, []string{`watches.yaml:1:3: role "example.util.gone": the image would have no such role; add the collection example.util to requirements.yml`}},
		{"- {version: v1, kind: A, role: example.util.gone}\n", []string{"--collections", "base"}, 0, nil},
		{"- {version: v1, kind: A, role: pond, color: red}\n", nil, 1, []string{`watches.yaml:1:38: unknown key "color"`}},
		{"[]\n", []string{"--base", "scratch"}, 2, []string{`--base "scratch": must be an image with Python, Ansible and ansible-runner`}},
		{"[]\n", []string{"--collections", "all"}, 2, []string{`--collections "all": must be project or base`}},
	} {
		clitest.WriteFile(t, filepath.Join(dir, "watches.yaml"), c.watches)
		code, out, errOut := imageCall(t, dir, own, append([]string{"image", "build", "--base", "base", "--tarball", "x.tar"}, c.args...)...)
		for _, want := range c.want {
			if !strings.Contains(errOut, want) {
				t.Errorf("want %q\n%s", want, errOut)
			}
		}
		_, err := os.Stat(filepath.Join(dir, "x.tar"))
		if code != c.code || os.IsNotExist(err) != (code != 0) {
			t.Errorf("%s: exit code %d, %v\n%s%s", c.watches, code, err, out, errOut)
		}
		_ = os.Remove(filepath.Join(dir, "x.tar"))
	}
	if err := os.Remove(filepath.Join(dir, "watches.yaml")); err != nil {
		t.Fatal(err)
	}
	clitest.Symlink(t, os.Args[0], filepath.Join(dir, "roles", "absolute"))
	clitest.Symlink(t, "../../etc", filepath.Join(dir, "playbooks", "outside"))
	clitest.Symlink(t, "../PROJECT", filepath.Join(dir, "playbooks", "project"))
	code, _, errOut := imageCall(t, dir, own, "image", "build", "--tarball", "x.tar")
	for _, want := range []string{
		"watches.yaml not found", "roles/absolute: links to ", "playbooks/outside: links to ../../etc, which the image does not contain; replace it with a file",
		"playbooks/project: links to ../PROJECT, which the image does not contain; replace it with a file",
	} {
		if code != 1 || !strings.Contains(errOut, want) {
			t.Errorf("exit code %d, want %q\n%s", code, want, errOut)
		}
	}
	if code, _, errOut := imageCall(t, helmProject(t), own, "image", "build", "--tarball", "x.tar", "--collections", "base"); code != 2 || !strings.Contains(errOut, "is only supported in Ansible projects") {
		t.Errorf("in a Helm project: exit code %d\n%s", code, errOut)
	}
}

// buildCollection builds the archive of a collection with a role, whose content is a text, and returns its path.
func buildCollection(t *testing.T, name, text, dependencies string) string {
	t.Helper()
	dir := clitest.NewDir(t, map[string]string{
		"galaxy.yml":               "namespace: example\nname: " + name + "\nversion: 1.2.3\nreadme: README.md\nauthors: [us]\ndescription: a collection\nlicense: [MIT]\nrepository: https://example.com\ndependencies: " + dependencies + "\n",
		"README.md":                text + "\n",
		"meta/runtime.yml":         "requires_ansible: '>=2.9'\n",
		"roles/pond/tasks/x.yml":   "# " + text + "\n",
		"plugins/modules/newt.py":  "# " + text + "\n",
		"roles/pond/meta/main.yml": "{}\n",
	})
	out := t.TempDir()
	if output, err := exec.Command("ansible-galaxy", "collection", "build", dir, "--output-path", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return filepath.Join(out, "example-"+name+"-1.2.3.tar.gz")
}

// TestImageBuildCollections checks that the collections of requirements.yml are resolved with ansible-galaxy, and cached.
func TestImageBuildCollections(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs ansible-galaxy")
	ansible.Require(t)
	const collections = "opt/ansible/.ansible/collections/ansible_collections/"
	dir, host, own := ansibleProject(t, map[string]string{"watches.yaml": "- {version: v1, kind: Pond, role: example.util.pond}\n"}), clitest.StartRegistry(t), withRuntime(t)
	platform := "linux/" + runtime.GOARCH
	require := func(entries string) {
		t.Helper()
		clitest.WriteFile(t, filepath.Join(dir, "requirements.yml"), "collections:\n"+entries)
	}
	archive := func(name, text, dependencies string) {
		t.Helper()
		clitest.WriteFile(t, filepath.Join(dir, name+".tar.gz"), clitest.ReadFile(t, buildCollection(t, name, text, dependencies)))
	}
	noPrograms := func(e *cmd.Env) {
		own(e)
		e.Environ = append(slices.DeleteFunc(slices.Clone(e.Environ), func(v string) bool { return strings.HasPrefix(v, "PATH=") }), "PATH="+t.TempDir())
	}
	noServer := func(e *cmd.Env) {
		own(e)
		e.Environ = append(e.Environ, "ANSIBLE_GALAXY_SERVER=http://127.0.0.1:1/")
	}
	build := func(change func(*cmd.Env), args ...string) (int, string) {
		t.Helper()
		code, _, errOut := imageCall(t, dir, change, append([]string{"-q", "image", "build", "--base", "base", "--image", host + "/pond:v1", "--push"}, args...)...)
		return code, errOut
	}

	// The dependency is in a file, too. ansible-galaxy resolves it from there.
	archive("util", "first", `{"example.base": ">=1.0.0"}`)
	archive("base", "first", "{}")
	require("- {name: ./util.tar.gz, type: file}\n- {name: base.tar.gz, type: file}\n")
	if code, errOut := build(noServer); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	config, files, headers := pulled(t, host+"/pond:v1", platform)
	if files[collections+"example/util/roles/pond/tasks/x.yml"] != "# first\n" || files[collections+"example/base/MANIFEST.json"] == "" || files["opt/ansible/requirements.yml"] == "" {
		t.Errorf("the image contains %s", clitest.SortedKeys(files))
	}
	for _, name := range []string{"", "collections", "collections/ansible_collections", "collections/ansible_collections/example/util/plugins/modules"} {
		if h := headers[filepath.ToSlash(filepath.Join("opt/ansible/.ansible", name))]; h == nil || h.Uid != 1001 || h.Gid != 0 || h.Mode&0o070 != 0o070 {
			t.Errorf("%s is %+v", name, h)
		}
	}
	// They are in the cache now.
	if code, errOut := build(noPrograms); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	if again, _, _ := pulled(t, host+"/pond:v1", platform); !slices.Equal(config.RootFS.DiffIDs, again.RootFS.DiffIDs) {
		t.Error("a build from the cache has other layers")
	}
	// Another content of a file is another collection. A second cache has the same content.
	archive("util", "second", `{"example.base": ">=1.0.0"}`)
	if code, errOut := build(noPrograms); code != 1 || !strings.Contains(errOut, "the collections of requirements.yml: ansible-galaxy not found in PATH; install Ansible, add the collections to the project in "+
		"collections/ansible_collections, or pass --collections base if the base has them\n") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	var second [][]string
	for range 2 {
		own = withRuntime(t)
		if code, errOut := build(own, "--offline"); code != 0 {
			t.Fatalf("exit code %d\n%s", code, errOut)
		}
		config, files, _ := pulled(t, host+"/pond:v1", platform)
		if files[collections+"example/util/roles/pond/tasks/x.yml"] != "# second\n" {
			t.Error("the image has the old collection")
		}
		var ids []string
		for _, id := range config.RootFS.DiffIDs {
			ids = append(ids, id.String())
		}
		second = append(second, ids)
	}
	if !slices.Equal(second[0], second[1]) {
		t.Error("a second cache results in other layers")
	}

	require("- {name: ./util.tar.gz, type: file}\n- {name: example.gone, version: 1.0.0}\n")
	if code, errOut := build(noServer); code != 1 || !strings.Contains(errOut, "the collections of requirements.yml: ansible-galaxy: ") ||
		!strings.Contains(errOut, "http://127.0.0.1:1/") || !strings.Contains(errOut, "; check the network and the servers in your ansible.cfg, or add the collections to the project in collections/ansible_collections\n") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if code, errOut := build(noServer, "--offline"); code != 1 || !strings.Contains(errOut, "; they are not in the cache, so run the command once without --offline\n") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	require("- 1\n  - 2\n")
	if code, errOut := build(own); code != 1 || !strings.Contains(errOut, "requirements.yml") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}

// TestImageBuildProjectCollections checks that the collections of the project are added as they are, without ansible-galaxy.
func TestImageBuildProjectCollections(t *testing.T) {
	t.Parallel()
	dir := ansibleProject(t, map[string]string{
		"watches.yaml":     "- {version: v1, kind: Pond, role: example.util.pond}\n",
		"requirements.yml": "collections:\n- example.util\n- name: kubernetes.core\n  version: 6.0.0\n",
		"collections/ansible_collections/example/util/roles/pond/tasks/main.yml": "[]\n",
		"ansible_collections/example/more/plugins/modules/a.py":                  "",
		"collections/requirements.yml":                                           "[]\n",
	})
	own, host := withRuntime(t), clitest.StartRegistry(t)
	noPrograms := func(e *cmd.Env) {
		own(e)
		e.Environ = []string{"PATH=" + t.TempDir()}
	}
	code, _, errOut := imageCall(t, dir, noPrograms, "image", "build", "--base", "base", "--image", host+"/pond:v1", "--push")
	if want := "requirements.yml:3:3: collection kubernetes.core is not among those that the project contains, so it must be in the base"; code != 0 || !strings.Contains(errOut, want) || strings.Contains(errOut, "collection example.util") {
		t.Fatalf("exit code %d, want %q\n%s", code, want, errOut)
	}
	_, files, headers := pulled(t, host+"/pond:v1", "linux/"+runtime.GOARCH)
	const collections = "opt/ansible/.ansible/collections/ansible_collections/"
	if headers[collections+"example/util/roles/pond/tasks/main.yml"] == nil || headers[collections+"example/more/plugins/modules/a.py"] == nil {
		t.Errorf("the image contains %s", clitest.SortedKeys(files))
	}
	// Without them, nothing is resolved.
	if code, _, errOut := imageCall(t, dir, noPrograms, "image", "build", "--base", "base", "--tarball", "x.tar", "--collections", "base"); code != 0 || strings.Contains(errOut, "collection") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}
