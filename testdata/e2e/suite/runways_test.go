package suite

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/images"
)

// shellImage is of programs of this machine: a shell, cat and gzip.
const shellImage = "shell:v1"

// way is one to bring a bundle to OLM.
type way struct {
	name string
	// source makes of a variant of the bundle what the command is called with.
	source func(t *testing.T, dir string) []string
	// objects are made in the namespace before.
	objects, want []string
}

// waysToServe are tests that bundles of every form are installed, and served in every way.
func (b *bench) waysToServe() (parts []part) {
	bundle := []string{"run", "bundle"}
	for _, row := range []way{
		{name: "large", want: []string{"Created registry pod: large-catalog-registry-"}, source: func(t *testing.T, dir string) []string {
			enlarge(t, dir)
			return append(bundle, filepath.Join(dir, "bundle"), "--decompression-image", b.image(shellImage))
		}},
		{name: "layout", source: func(t *testing.T, dir string) []string {
			b.runOperon(t, 0, "-C", dir, "image", "bundle", "--oci-layout", "layout")
			return append(bundle, filepath.Join(dir, "layout"), "--security-context-config", "legacy", "--image-pull-policy", "IfNotPresent")
		}},
		{
			name: "tarball", objects: []string{
				"serviceaccount registry", "secret generic pull --type=kubernetes.io/dockerconfigjson --from-literal=.dockerconfigjson={\"auths\":{}}",
			},
			source: func(t *testing.T, dir string) []string {
				b.runOperon(t, 0, "-C", dir, "image", "bundle", "--image", "example.com/tarball:v1", "--tarball", "bundle.tar")
				return append(bundle, filepath.Join(dir, "bundle.tar"), "--service-account", "registry", "--pull-secret-name", "pull")
			},
		},
		{name: "manifests", source: func(t *testing.T, dir string) []string {
			return []string{"run", "packagemanifests", packageManifests(t, dir), "--env", "FROM=manifests"}
		}},
		{name: "pushed", want: []string{"pushed   " + b.registry + "/pushed-catalog@sha256:"}, source: func(t *testing.T, dir string) []string {
			return append(bundle, filepath.Join(dir, "bundle"), "--push-catalog", b.registry+"/pushed-catalog:test",
				"--registry-mirror", "quay.io="+b.registry, "--insecure-registry", b.registry)
		}},
	} {
		parts = append(parts, part{row.name, func(t *testing.T) { b.testWay(t, row) }})
	}
	return parts
}

func (b *bench) testWay(t *testing.T, row way) {
	kubectl := func(args ...string) string {
		return b.run(t, b.root, "kubectl", append(args, "--namespace", row.name)...)
	}
	kubectl("create", "namespace", row.name)
	for _, object := range row.objects {
		kubectl(append([]string{"create"}, strings.Fields(object)...)...)
	}
	args := append(row.source(t, b.variant(t, row.name, nil)), "--namespace", row.name, "--timeout", "10m")
	b.says(t, b.runOperon(t, 0, args...), append(row.want, fmt.Sprintf("OLM has successfully installed %q", row.name+".v0.0.1"))...)
	if row.name == "manifests" {
		const env = "jsonpath={.spec.template.spec.containers[0].env[?(@.name=='FROM')].value}"
		// OLM installs the operator without the Subscription's variables if it has not seen that the two belong together.
		b.eventually(t, func() error {
			if value := kubectl("get", "deployment/manifests-controller-manager", "-o", env); value != "manifests" {
				return fmt.Errorf("the operator's variable FROM is %q", value)
			}
			return nil
		})
	}
	b.runOperon(t, 0, "cleanup", row.name, "--namespace", row.name, "--timeout", "10m")
	kubectl("delete", "namespace", row.name)
}

// enlarge adds to a bundle what no compression makes small, so that its catalog fits into no ConfigMap.
func enlarge(t *testing.T, dir string) {
	t.Helper()
	for i := range 2 {
		var noise []byte
		for sum := sha256.Sum256([]byte{byte(i)}); len(noise) < 300<<10; sum = sha256.Sum256(sum[:]) {
			noise = append(noise, sum[:]...)
		}
		name := fmt.Sprintf("noise-%d", i)
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  noise: " + base64.StdEncoding.EncodeToString(noise) + "\n"
		if err := os.WriteFile(filepath.Join(dir, "bundle", "manifests", name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// packageManifests turns a variant's bundle into the older format, and returns its folder.
func packageManifests(t *testing.T, dir string) string {
	t.Helper()
	name, old := "manifests", filepath.Join(dir, "packagemanifests")
	if err := os.CopyFS(filepath.Join(old, "0.0.1"), os.DirFS(filepath.Join(dir, "bundle", "manifests"))); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("packageName: %s\nchannels:\n- name: alpha\n  currentCSV: %[1]s.v0.0.1\ndefaultChannel: alpha\n", name)
	if err := os.WriteFile(filepath.Join(old, name+".package.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return old
}

// pushShell makes an image of this machine's programs, with the libraries that they need.
func (b *bench) pushShell(t *testing.T) {
	t.Helper()
	files := map[string]string{}
	for _, program := range []string{"sh", "cat", "gzip"} {
		file, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		files["/bin/"+program] = file
		for _, word := range strings.Fields(b.run(t, b.root, "ldd", file)) {
			if strings.HasPrefix(word, "/") {
				files[word] = word
			}
		}
	}
	recipe := images.Recipe{Name: "example.com/" + shellImage, Files: files, Entrypoint: []string{"/bin/sh"}, User: "1001"}
	if err := images.Push(b.ctx, b.registry, nil, []images.Recipe{recipe}); err != nil {
		t.Fatal(err)
	}
}
