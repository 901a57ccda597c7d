package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestBundleNotes checks that a note or warning reports each input that is left out of the bundle or changed in it, and
// that --strict rejects a loss.
func TestBundleNotes(t *testing.T) {
	t.Parallel()
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: bath\n"
	base := func(definitions string) string {
		return "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: newt-operator.v0.0.0\nspec:\n  displayName: Newts\n  installModes:\n" +
			"  - {supported: true, type: AllNamespaces}\n  customresourcedefinitions:\n" + definitions
	}
	for _, c := range []struct {
		name  string
		more  string            // appended to stdin
		files map[string]string // in the directory deploy, which is read instead of stdin
		base  string
		want  string
		lost  bool
	}{
		{name: "hidden", files: map[string]string{".draft.yaml": config}, want: "deploy/.draft.yaml is hidden and was not read; rename it", lost: true},
		{name: "hidden directory", files: map[string]string{".old/a.yaml": config}, want: "deploy/.old is hidden and was not read", lost: true},
		{name: "kustomization", files: map[string]string{"kustomization.yaml": "resources: []\n"}, want: "deploy/kustomization.yaml is a kustomization and was not read", lost: true},
		{name: "values", files: map[string]string{"values.yaml": "replicas: 1\n"}, want: "deploy/values.yaml:1: the document is not a Kubernetes object", lost: true},
		{name: "link to a directory", files: map[string]string{"link": "->.."}, want: "deploy/link is not a regular file and was not read", lost: true},
		{name: "document", more: "---\nreplicas: 1\n", want: "the document is not a Kubernetes object: missing apiVersion and kind, and was not read; remove it", lost: true},
		{name: "twice", more: "---\n" + config + "---\n" + config, want: "ConfigMap bath is in the input twice, first at stdin:", lost: false},
		{name: "unknown field", more: "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: bath\nspec:\n  prots: []\n  porst: {a: 1}\n", want: "Service bath has a field spec.porst that its API does not define", lost: true},
		{name: "annotations", more: "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: more, annotations: {a: b}}\nspec:\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: registry.example/c:1}]}}\n",
			want: "Deployment more has annotations of its own; a CSV has no place for them", lost: true},
		{name: "owned without CRD", base: base("    owned:\n    - {kind: Toad, name: toads.pond.newts.example, version: v1}\n"), want: "the owned entry toads.pond.newts.example v1 Toad of the base CSV has no CRD", lost: true},
		{name: "required", base: base("    required:\n    - {kind: Newt, name: newts.pond.newts.example, version: v1}\n"), want: "CustomResourceDefinition newts.pond.newts.example is listed as required", lost: true},
		{name: "name of another version", base: base("    owned: []\n") + "  version: 1.2.3\n", want: "newt-operator.v0.0.0 has a name that does not match its version 1.2.3; set both with --version"},
		{name: "no base", base: "-", want: "the bundle has no base CSV; its descriptions are placeholders"},
		{name: "Secret", more: "---\napiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {a: b}\n", want: "Secret key is in the bundle with its content"},
		{name: "no example", want: "pond.newts.example v1 Newt has no example in the bundle"},
		{name: "minKubeVersion", want: "newt-operator.v1.0.0 has no spec.minKubeVersion"},
		{name: "image under two names", more: "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: more}\nspec:\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: registry.example/c:1, " +
			"env: [{name: RELATED_IMAGE_A, value: registry.example/d:1}, {name: RELATED_IMAGE_B, value: registry.example/d:1}]}]}}\n",
			want: "image registry.example/d:1 has the RELATED_IMAGE_ names a and b; it is listed once, as a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newts(t)
			p.stdin += c.more
			var args []string
			if !strings.Contains(c.base, "\n  version: ") {
				args = []string{"--version", "1.0.0"}
			}
			if c.files != nil {
				args = append(args, "--input-dir", "deploy")
				if err := os.Mkdir(filepath.Join(p.dir, "deploy"), 0o755); err != nil {
					t.Fatal(err)
				}
				clitest.WriteFile(t, filepath.Join(p.dir, "deploy", "operator.yaml"), p.stdin)
				p.stdin = ""
			}
			for name, content := range c.files {
				name = filepath.Join(p.dir, "deploy", filepath.FromSlash(name))
				if to, ok := strings.CutPrefix(content, "->"); ok {
					clitest.Symlink(t, to, name)
					continue
				}
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				clitest.WriteFile(t, name, content)
			}
			switch c.base {
			case "":
			case "-":
				if err := os.Remove(filepath.Join(p.dir, filepath.FromSlash(newtBase))); err != nil {
					t.Fatal(err)
				}
			default:
				clitest.WriteFile(t, filepath.Join(p.dir, filepath.FromSlash(newtBase)), c.base)
			}
			code, _, errOut := p.run(t, append(args, "--strict")...)
			word := map[bool]string{false: "note: ", true: "error: "}[c.lost]
			if (code != 0) != c.lost || !hasLine(errOut, word, c.want) {
				t.Errorf("--strict: exit code %d, want a line %s with %q:\n%s", code, word, c.want, errOut)
			}
			if word = strings.Replace(word, "error", "warning", 1); c.lost {
				if _, errOut := p.must(t, args...); !hasLine(errOut, word, c.want) {
					t.Errorf("no line %s with %q:\n%s", word, c.want, errOut)
				}
			}
		})
	}
}

// hasLine reports whether a line begins with a word and contains a text.
func hasLine(lines, word, text string) bool {
	for line := range strings.Lines(lines) {
		if strings.HasPrefix(line, word) && strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// TestBundlePartly checks that a run for manifests or metadata alone keeps the edits of the other part.
func TestBundlePartly(t *testing.T) {
	t.Parallel()
	for _, clone := range []bool{false, true} {
		p := newts(t)
		p.must(t, "--version", "0.2.0")
		p.edit(t, annotationsFile, "channels.v1: alpha", "channels.v1: beta")
		if clone {
			p.must(t, "--version", "0.2.0")
			p.cache = t.TempDir()
		}
		p.must(t, "--version", "0.2.1", "--manifests")
		if clone {
			p.cache = t.TempDir()
		}
		p.must(t, "--version", "0.2.1")
		if !strings.Contains(p.file(t, annotationsFile), "channels.v1: beta") {
			t.Errorf("clone %v: the edited channel was lost:\n%s", clone, p.file(t, annotationsFile))
		}
		before := p.file(t, annotationsFile)
		_, errOut := p.must(t, "--version", "0.2.1", "--overwrite=false", "--channels", "stable")
		if p.file(t, annotationsFile) != before || !strings.Contains(errOut, "--overwrite=false: "+annotationsFile+" and bundle.Dockerfile are kept") {
			t.Errorf("clone %v: --overwrite=false:\n%s%s", clone, errOut, p.file(t, annotationsFile))
		}
	}
}
