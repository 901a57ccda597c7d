package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestBundleOfEditedProject edits PROJECT while a command reads its input or waits for an answer. The bundle must be the one of the
// edited PROJECT.
func TestBundleOfEditedProject(t *testing.T) {
	t.Parallel()
	deployment := `apiVersion: apps/v1
kind: Deployment
metadata: {name: kiln-manager}
spec:
  selector: {matchLabels: {app: kiln}}
  template:
    metadata: {labels: {app: kiln}}
    spec: {containers: [{name: manager, image: "example.com/kiln:v1"}]}
`
	const before, after = "helm.sdk.operatorframework.io/v1", "ansible.sdk.operatorframework.io/v1"
	for _, c := range []struct {
		name, args, annotations string
		prompt                  bool
	}{
		{"bundle", "bundle --version 1.0.0 --interactive", "bundle/metadata/annotations.yaml", true},
		{"generate bundle", "generate bundle --version 1.0.0", "bundle/metadata/annotations.yaml", false},
		{"generate packagemanifests", "generate packagemanifests --version 1.0.0", "packagemanifests/1.0.0/kiln.clusterserviceversion.yaml", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := clitest.NewDir(t, map[string]string{
				"PROJECT":                             "domain: example.com\nlayout:\n- " + before + "\nprojectName: kiln\nversion: \"3\"\n",
				"config/manifests/kustomization.yaml": "resources:\n- deployment.yaml\n",
				"config/manifests/deployment.yaml":    deployment,
				"watches.yaml":                        "[]\n",
			})
			change := func() {
				name := filepath.Join(dir, "PROJECT")
				text := strings.ReplaceAll(clitest.ReadFile(t, name), before, after)
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Error(err)
				}
			}
			var out bytes.Buffer
			env := &cmd.Env{Out: &out, Err: &out, Dir: dir, FS: afero.NewOsFs(), Now: time.Now}
			if c.prompt {
				env.InTerminal, env.Prompter = true, changingPrompter{change}
			} else {
				env.InPipe, env.In = true, &changingReader{Reader: strings.NewReader(deployment), change: change}
			}
			if code := cmd.Main(t.Context(), env, append([]string{"operon"}, strings.Fields(c.args)...)); code != 0 {
				t.Fatalf("exit code %d\n%s", code, out.String())
			}
			if text := clitest.ReadFile(t, filepath.Join(dir, filepath.FromSlash(c.annotations))); !strings.Contains(text, after) || strings.Contains(text, before) {
				t.Errorf("%s is of the former PROJECT:\n%s", c.annotations, text)
			}
		})
	}
}

// changingPrompter answers every question with the same text, or the first option, after a change.
type changingPrompter struct{ change func() }

func (p changingPrompter) Confirm(string, bool) (bool, error) { return false, nil }
func (p changingPrompter) Input(q cmd.Question) (string, error) {
	p.change()
	if len(q.Options) > 0 {
		return q.Options[0].Value, nil
	}
	return "Kiln", nil
}

// changingReader calls change before its first read.
type changingReader struct {
	*strings.Reader
	change func()
	done   bool
}

func (r *changingReader) Read(p []byte) (int, error) {
	if !r.done {
		r.change()
		r.done = true
	}
	return r.Reader.Read(p)
}
