package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestQuestionsAtATerminal answers the questions of create api and generate kustomize manifests at a pseudo-terminal, as a
// user would who gave few flags.
func TestQuestionsAtATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	atTerminal(t, dir, []answer{
		{"(my.domain)", "\r"},
	}, "init", "--repo", "example.com/terminal", "--project-name", "terminal")
	screen := atTerminal(t, dir, []answer{
		{"Group (example: cache):", "Cac_he\r"}, // refused, and asked again
		{"(cac-he)", "cache\r"},
		{"(v1alpha1)", "v1beta\r"},
		{"(v1beta1)", "\r"}, // the suggestion
		{"Kind (example: Memcached):", "Memcachedd\x7f\r"},
		{"Create Resource", "\r"},
		{"Create Controller", "n\r"},
	}, "create", "api", "--make=false")
	if prompts, _, _ := strings.Cut(screen, "\nupdated "); strings.Contains(prompts, "--") {
		t.Errorf("the prompts name flags:\n%s", screen)
	}
	screen = atTerminal(t, dir, []answer{
		{"Display name for the operator (example: Memcached Operator):", "\r"}, // refused, and asked again
		{"an answer is required", "'Memcached'\r"},
		{"Description for the operator", "Runs memcached.\r"},
		{"Provider's name for the operator", "Example\r"},
		{"URL of the provider, empty for none", "example\r"},
		{"\"example\": ", "\r"},
		{"list of keywords", "cache, fast\r"},
		{"maintainers and their emails:", "Ana\r"}, // neither is it an address
		{"must have the form name:email", "Ana:ana@example.com\r"},
	}, "generate", "kustomize", "manifests")
	if strings.Contains(screen, "--") {
		t.Errorf("the prompts name flags:\n%s", screen)
	}
	files := clitest.ReadTree(t, dir)
	base := files["config/manifests/bases/terminal.clusterserviceversion.yaml"]
	for _, want := range []string{"displayName: Memcached\n", "description: Runs memcached.\n", "    name: Example\n  version:", "- cache\n  - fast\n", "- email: ana@example.com\n    name: Ana\n"} {
		if !strings.Contains(base, want) {
			t.Errorf("no %q in the base:\n%s", want, base)
		}
	}
	if !strings.Contains(files["PROJECT"], "group: cache\n  kind: Memcached") || files["api/v1beta1/memcached_types.go"] == "" {
		t.Errorf("the answers did not make the API:\n%s", files["PROJECT"])
	}
	if _, ok := files["internal/controller/memcached_controller.go"]; ok {
		t.Error("a controller was made though the answer was n")
	}
	if !strings.Contains(files["PROJECT"], "domain: my.domain\n") {
		t.Errorf("PROJECT does not have the default domain:\n%s", files["PROJECT"])
	}
}

// answer is what to type when a text has appeared.
type answer struct{ after, keys string }

// atTerminal runs operon at a terminal and returns the screen.
func atTerminal(t *testing.T, dir string, answers []answer, args ...string) string {
	t.Helper()
	terminal := clitest.StartTerminal(t, dir, 80, nil, args...)
	for _, a := range answers {
		terminal.Type(a.after, a.keys)
	}
	return terminal.MustEnd(0)
}

// TestInitAtATerminal checks that init asks for all that it needs, wraps questions to the terminal, uses no escape sequences, and
// does not lose answers when it is interrupted.
func TestInitAtATerminal(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{60, 80} {
		dir := filepath.Join(t.TempDir(), "My_Operator")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		terminal := clitest.StartTerminal(t, dir, columns, []string{"TERM=dumb", "GOPATH=" + t.TempDir()}, "init", "--owner", "A B")
		terminal.Type("[my.domain]: ", "Example.com\r")
		terminal.Type("[example.com]: ", "\r")
		terminal.Type("[my-operator]: ", "\r")
		terminal.WaitFor("[example.com/my-operator]: ")
		question := terminal.Screen()
		for line := range strings.Lines(question) {
			if len(strings.TrimRight(line, "\n")) >= columns {
				t.Errorf("at %d columns a line is full:\n%s", columns, question)
			}
		}
		if columns == 60 {
			terminal.Type("", "\x03")
			screen := terminal.MustEnd(1)
			if want := "operon init --owner 'A B' --domain example.com --project-name my-operator"; !strings.Contains(strings.ReplaceAll(screen, "\n", ""), want) {
				t.Errorf("no %q after the interrupt:\n%s", want, screen)
			}
			continue
		}
		terminal.Type("", "github.com/example/my-operator\r")
		terminal.MustEnd(0)
		if strings.Contains(terminal.Output(), "\x1b") {
			t.Errorf("escape sequences at a dumb terminal:\n%q", terminal.Output())
		}
		files := clitest.ReadTree(t, dir)
		for _, want := range []string{"domain: example.com\n", "projectName: my-operator\n", "repo: github.com/example/my-operator\n"} {
			if !strings.Contains(files["PROJECT"], want) {
				t.Errorf("PROJECT does not have %q:\n%s", want, files["PROJECT"])
			}
		}
	}
}

// TestPromptsRedraw checks that questions remain on the screen once, with their answers, in narrow terminals too.
func TestPromptsRedraw(t *testing.T) {
	t.Parallel()
	for columns, example := range map[int]string{60: "", 80: " (example: example.com)"} {
		terminal := clitest.StartTerminal(t, t.TempDir(), columns, []string{"GOPATH=" + t.TempDir()}, "init")
		const domain = "department.with-a-long-name.division.with-a-long-name.example.com"
		terminal.Type("(my.domain)", domain+"\r")
		terminal.Type("Go module path:", "\x15example.com/operator\r")
		screen := terminal.MustEnd(0)
		prompts, _, _ := strings.Cut(screen, "\ncreated")
		want := "? Domain of the API groups" + example + ": " + domain + "Example: github.com/example/memcached-operator? Go module path: example.com/operator"
		if got := strings.ReplaceAll(prompts, "\n", ""); got != want {
			t.Errorf("at %d columns:\n%s", columns, prompts)
		}
	}
}
