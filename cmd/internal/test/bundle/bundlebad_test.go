package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestBundleBadInput checks that invalid input is reported with positions, all findings at once, and that nothing is
// written.
func TestBundleBadInput(t *testing.T) {
	t.Parallel()
	const (
		service  = "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: bath\n"
		otherCSV = "---\napiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: newt-operator.v0.0.%s\nspec:\n  displayName: N\n"
	)
	for _, c := range []struct {
		name  string
		stdin func(good string) string
		args  string
		files map[string]string // files with empty content are removed
		want  []string
	}{
		{name: "flags", args: "--version 1.0 --channels alpha,,my&beta --default-channel a#b --package Upper --input-dir x --crds-dir y", want: []string{
			`--version "1.0": must be a semantic version`, `has an empty channel`, `--default-channel "a#b"`, `--package "Upper"`, `stdin "a pipe"`, `--input-dir "x": excludes`,
		}},
		{name: "channels with a space", args: "--version 1.0.0 --channels=alpha,my\u00a0beta,\tbeta", want: []string{`white space`}},
		{name: "flags and manifests", args: "--version v1 --channels alpha,,beta --output-dir ../x", stdin: func(good string) string { return good + service + "spec:\n  ports: none\n" }, files: map[string]string{newtBase: "kind: [\n"}, want: []string{
			`--version "v1"`, "has an empty channel", `--output-dir "../x"`, "spec.ports must be a list", newtBase + ":1",
		}},
		{name: "flags and what manifests mean", args: "--version 1.0 --package newt-operator", stdin: func(string) string { return service }, want: []string{`--version "1.0"`, "has no Deployment that OLM could run"}},
		{name: "a package's name and manifests", args: "--version 1.0.0 --package Newts", stdin: func(good string) string { return good + service + service + "spec:\n  type: NodePort\n" }, want: []string{`--package "Newts"`, "is defined a second time"}},
		{name: "flags and no input", args: "--version 1.0", stdin: func(string) string { return "" }, files: map[string]string{"config/manifests": ""}, want: []string{`--version "1.0"`, `--input-dir is required`}},
		{name: "flags without a project", args: "--version 1.0", files: map[string]string{"PROJECT": ""}, want: []string{`--version "1.0"`, "no PROJECT file", "name its package with --package"}},
		{name: "a project without a name", args: "--version 1.0", files: map[string]string{"PROJECT": "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nrepo: example.com/newts\nversion: \"3\"\n"}, want: []string{`--version "1.0"`, `--package is required`}},
		{name: "version with build metadata", args: "--version 1.0.0+b", want: []string{"has build metadata"}},
		{name: "no version", args: "--package lizard-operator", want: []string{"--version is required"}},
		{name: "plain text", stdin: func(string) string { return "Error: accumulating resources: no such file\n  it failed\n" }, want: []string{"stdin:1:"}},
		{name: "text only", stdin: func(string) string { return "nothing to see here\n" }, want: []string{"stdin:1: is not a Kubernetes object: it is plain text"}},
		{name: "a sequence", stdin: func(string) string { return "- apiVersion: v1\n- kind: List\n" }, want: []string{"stdin:1: is not a Kubernetes object: it is a list"}},
		{name: "truncated document", stdin: func(good string) string { return good[:strings.LastIndex(good, "kind:")] }, want: []string{"is not a Kubernetes object: missing kind"}},
		{name: "truncated in a text", stdin: func(good string) string { return good + service + "  annotations:\n    text: \"half" }, want: []string{"is not valid YAML"}},
		{name: "several", stdin: func(good string) string {
			return good + service + "spec:\n  ports: none\n" + service + "\tspec: {}\n" + "---\nkind: Service\nmetadata: {name: a}\n"
		}, want: []string{"spec.ports must be a list, not a string", "must be indented with spaces, not tabs", "missing apiVersion"}},
		{name: "two CSVs", stdin: func(good string) string {
			return good + strings.Replace(otherCSV, "%s", "1", 1) + strings.Replace(otherCSV, "%s", "2", 1)
		}, want: []string{"2 ClusterServiceVersions", "newt-operator.v0.0.1 at stdin:", "newt-operator.v0.0.2 at stdin:"}},
		{name: "CRD", stdin: func(good string) string {
			return good + "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.b.c\nspec:\n  group: 7\n  versions: v1\n" +
				"---\napiVersion: apiextensions.k8s.io/v2\nkind: CustomResourceDefinition\nmetadata:\n  name: d.b.c\n"
		}, want: []string{"CustomResourceDefinition a.b.c: spec.versions must be a list", "unsupported CRD API version v2"}},
		{name: "duplicates", stdin: func(good string) string { return good + service + service + "spec:\n  type: NodePort\n" }, want: []string{"is defined a second time and differently from stdin:"}},
		{name: "a name that is a path", stdin: func(good string) string {
			return good + "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ../../up\n"
		}, want: []string{"ConfigMap ../../up: the name contains a slash"}},
		{name: "package", args: "--version 1.0.0 --package a..b", want: []string{`--package "a..b"`}},
		{name: "binary", stdin: func(good string) string { return good + "\x00\x01" }, want: []string{"contains binary data"}},
		{name: "not UTF-8", stdin: func(good string) string { return good + "# \xff\n" }, want: []string{"is not UTF-8 text"}},
		{name: "UTF-16", stdin: func(string) string { return "\xff\xfea\x00" }, want: []string{"stdin:1: is UTF-16"}},
		{name: "no Deployment but a StatefulSet", stdin: func(good string) string { return strings.Replace(good, "kind: Deployment", "kind: StatefulSet", 1) }, want: []string{"convert StatefulSet newt-operator/newt-operator"}},
		{name: "image by reference", stdin: func(good string) string {
			return strings.Replace(good, "        image: registry.example/newt-operator:0.2.0\n", "        image: registry.example/newt-operator:0.2.0\n        env: [{name: RELATED_IMAGE_POND, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]\n", 1)
		}, want: []string{"container manager: RELATED_IMAGE_POND must have a value"}},
		{name: "no Deployment", stdin: func(string) string { return service }, want: []string{"has no Deployment that OLM could run"}},
		{name: "broken base", files: map[string]string{newtBase: "apiVersion: operators.coreos.com/v1alpha1\nkind: [\n"}, want: []string{newtBase + ":2: is not valid YAML"}},
		{name: "base without CSV", files: map[string]string{newtBase: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"}, want: []string{newtBase + ": has no ClusterServiceVersion"}},
		{name: "broken files on disk", files: map[string]string{
			newtCSV: "<<<<<<< ours\na: b\n", annotationsFile: "annotations: [\n",
		}, want: []string{newtCSV + ":", annotationsFile + ": is not valid YAML"}},
		{name: "broken edits", files: map[string]string{".operon/bundle.json": "[\n"}, want: []string{".operon/bundle.json: is not valid JSON", "restore it from version control"}},
		{name: "two objects on disk", files: map[string]string{newtCSV: strings.Replace(otherCSV, "%s", "1", 1) + service}, want: []string{newtCSV + ": holds 2 objects instead of one"}},
		{name: "kustomize", stdin: func(string) string { return "" }, want: []string{"config/manifests", "default"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newts(t)
			if c.stdin != nil {
				p.stdin = c.stdin(p.stdin)
			}
			for name, content := range c.files {
				if content != "" {
					clitest.WriteFiles(t, p.dir, map[string]string{name: content})
				} else if err := os.RemoveAll(filepath.Join(p.dir, filepath.FromSlash(name))); err != nil {
					t.Fatal(err)
				}
			}
			before := clitest.ReadTree(t, p.dir)
			args, wantCode := []string{"--version", "1.0.0"}, 1
			if c.args != "" {
				args, wantCode = strings.Split(c.args, " "), 2 // all of these arguments are invalid
			}
			code, out, errOut := p.run(t, args...)
			if code != wantCode || out != "" {
				t.Errorf("exit code %d\n%s", code, out)
			}
			for _, text := range c.want {
				if !strings.Contains(errOut, text) {
					t.Errorf("stderr does not contain %q", text)
				}
			}
			if strings.Contains(errOut, p.dir) {
				t.Error("stderr contains an absolute path")
			}
			if t.Failed() {
				t.Log(errOut)
			}
			if after := clitest.ReadTree(t, p.dir); len(after) != len(before) {
				t.Errorf("something was written: %s", clitest.SortedKeys(after))
			}
		})
	}
}

// TestBundleEncodings checks that a byte order mark and carriage returns do not change the bundle.
func TestBundleEncodings(t *testing.T) {
	t.Parallel()
	p := newts(t)
	p.must(t, "--version", "1.0.0")
	p.stdin = "\xef\xbb\xbf" + strings.ReplaceAll(p.stdin, "\n", "\r\n")
	if out, _ := p.must(t, "--version", "1.0.0"); out != "" {
		t.Errorf("the bundle changed:\n%s", out)
	}
}
