package script

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestQuestionsOfLayouts checks what the create commands ask in projects of each layout, by the command with the answers that they print.
func TestQuestionsOfLayouts(t *testing.T) {
	t.Parallel()
	const start, end = "What do you start from?", "Go on with these answers?"
	for plugins, tests := range map[string][]struct {
		command string
		answers []answer
		want    string
	}{
		"go": {
			{"create api", []answer{
				{start, "image\r"}, {"Container image", "memcached:1.6\r"}, {"Port of the container", "x\r"}, {"must be a number", "11211\r"},
				{"API group", "\r"}, {"an answer is required", "cache\r"}, {"API version", "\r"}, {"Kind", "Memcached\r"}, {"Scope", "cluster\r"},
			}, "--image memcached:1.6 --image-container-port 11211 --group cache --version v1alpha1 --kind Memcached --namespaced=false"},
			{"create api --resource=false", []answer{{"Kind of Kubernetes", "pod\r"}}, ""},
			{"create api --group batch", []answer{{start, "a kind of kub\r"}, {"Kind of Kubernetes", "job" + down + "\r"}},
				"--resource=false --controller --version v1 --kind Job"},
			{"create webhook", []answer{
				{"Kind", "another\r"}, {"Import path", "example.com/api/v1\r"}, {"Domain of the API group", "io\r"}, {"Go module", "\r"}, {"API group", "shop\r"},
				{"API version", "\r"}, {"Kind", "Order\r"}, {"Webhooks", "validation:\r"}, {"Certificates", "the manager\r"},
			}, "--external-api-path example.com/api/v1 --external-api-domain io --group shop --version v1 --kind Order --programmatic-validation --certificates self-managed"},
		},
		"helm": {
			{"create api", []answer{{start, "new\r"}, {"API group", "cache\r"}, {"API version", "v1\r"}, {"Kind", "Memcached\r"}},
				"--group cache --version v1 --kind Memcached"},
			{"create api", []answer{{start, "directory\r"}, {"Directory or archive", "none\r"}, {"no such file", "config\r"}, {"API group", "\r"}, {"API version", "\r"}, {"Kind", "\r"}},
				"--helm-chart config --group charts --version v1alpha1"},
			{"create api", []answer{{start, "repo\r"}, {"Chart", "memcached\r"}, {"URL of", "https://charts.example.com\r"}, {"Version of", "\r"}, {"API group", "\r"}, {"API version", "\r"}, {"Kind", "\r"}},
				"--helm-chart memcached --helm-chart-repo https://charts.example.com --group charts --version v1alpha1"},
		},
		"ansible": {
			{"create api", []answer{{start, "that runs\r"}, {"API group", "cache\r"}, {"API version", "\r"}, {"Kind", "Memcached\r"}},
				"--generate-role --generate-playbook --group cache --version v1alpha1 --kind Memcached"},
		},
	} {
		dir := t.TempDir()
		args := []string{"init", "--plugins", plugins, "--domain", "example.com", "--project-name", "x"}
		if plugins == "go" {
			args = append(args, "--repo", "example.com/x")
		}
		atTerminal(t, dir, nil, args...)
		for _, test := range tests {
			terminal := clitest.StartTerminal(t, dir, 100, nil, strings.Fields(test.command)...)
			for _, a := range test.answers {
				terminal.Type(a.after, a.keys)
			}
			if test.want == "" { // a single question
				terminal.Type("Create Controller", "\x03")
			} else {
				terminal.Type(end, "no\r")
			}
			screen := terminal.MustEnd(1)
			if want := "operon " + test.command + " " + test.want; !strings.Contains(strings.Join(strings.Fields(screen), ""), strings.ReplaceAll(want, " ", "")) {
				t.Errorf("%s: no %q:\n%s", plugins, want, screen)
			}
		}
	}
}
