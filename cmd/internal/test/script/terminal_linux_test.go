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
		{"(default: my.domain)", "\r"},
	}, "init", "--repo", "example.com/terminal", "--project-name", "terminal")
	screen := atTerminal(t, dir, []answer{
		{"What do you start from?", down + down + "\r"},
		{"[1 of 4] API group", "Cac_he\r"}, // refused, and asked again
		{"(default: cac-he)", "cache\r"},
		{"(default: v1alpha1)", "v1beta\r"},
		{"(default: v1beta1)", "\r"}, // the suggestion
		{"Kind (example: Memcached):", "Memcachedd\x7f\r"},
		{"Scope", "\r"},
		{"Go on with these answers?", "\r"},
	}, "create", "api", "--make=false")
	prompts, _, _ := strings.Cut(screen, "The same command without questions:")
	if strings.Contains(prompts, "--") {
		t.Errorf("the prompts name flags:\n%s", screen)
	}
	const command = "operon create api --make=false --resource --controller=false --group cache --version v1beta1 --kind Memcached"
	if !strings.Contains(strings.Join(strings.Fields(screen), ""), strings.ReplaceAll(command, " ", "")) {
		t.Errorf("no %q:\n%s", command, screen)
	}
	screen = atTerminal(t, dir, []answer{
		{"[1 of 6] Display name for the operator (default: terminal):", "'Memcached'\r"},
		{"Description for the operator", "\x1b[200~Runs memcached.\r\n\rFast.\x1b[201~\r"},
		{"Provider's name for the operator", "Example\r"},
		{"URL of the provider, empty for none", "example\r"},
		{"\"example\": ", "\r"},
		{"list of keywords", "cache, fast\r"},
		{"empty to leave", "Ana\r"}, // neither is it an address
		{"must have the form name:email", "ana@example.com\r"},
		{"Go on with these answers?", down + "\r"},
		{"Which answer do you want to change?", "maint\r"},
		{"ana@example.com):", "Ana:ana@example.com\r"},
		{"--maintainers Ana:ana@example.com", "\r"},
	}, "generate", "kustomize", "manifests")
	screen, _, _ = strings.Cut(screen, "The same command")
	if strings.Contains(screen, "--") {
		t.Errorf("the prompts name flags:\n%s", screen)
	}
	atTerminal(t, dir, []answer{ // Enter keeps each text
		{"Display name for the operator (default: Memcached):", "\r"}, {"empty to keep the current one", "\r"}, {"(default: Example)", "\r"},
		{"URL of the provider, empty for none", "\r"}, {"cache,fast):", "\r"}, {"Ana:ana@example.com):", "\r"}, {"Go on with these answers?", "\r"},
	}, "generate", "kustomize", "manifests", "--interactive")
	files := clitest.ReadTree(t, dir)
	base := files["config/manifests/bases/terminal.clusterserviceversion.yaml"]
	for _, want := range []string{"displayName: Memcached\n", "  description: |-\n    Runs memcached.\n\n    Fast.\n", "    name: Example\n  version:", "- cache\n  - fast\n", "- email: ana@example.com\n    name: Ana\n"} {
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

// down is the key of the arrow.
const down = "\x1b[B"

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
		terminal.WaitFor("3 questions follow.")
		terminal.Type("(default: my.domain):", "Example.com\r")
		terminal.Type("(default: example.com):", "\r")
		terminal.Type("(default: my-operator):", "\r")
		terminal.WaitFor("example.com/my-operator):")
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
		terminal.Type("(1 to 3, default: 1): ", "yes\r")
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
	for _, columns := range []int{60, 80} {
		dir := t.TempDir()
		name := filepath.Base(dir)
		terminal := clitest.StartTerminal(t, dir, columns, []string{"GOPATH=" + t.TempDir()}, "init")
		const domain = "department.with-a-long-name.division.with-a-long-name.example.com"
		terminal.Type("What do you write the operator with?", "hel\x15\r")
		terminal.Type("(default: my.domain)", domain+"\r")
		terminal.Type("Go module path", "\r")
		terminal.Type("Go on with these answers?", down+"\r")
		terminal.Type("Which answer", down+down+"\r")
		terminal.Type("Go module path", "example.com/operator\r")
		terminal.Type("Go on with these answers?", "\r")
		screen := terminal.MustEnd(0)
		prompts, _, _ := strings.Cut(screen, "The same command")
		want := "? What do you write the operator with? Go\n2 questions follow. You can change your answers before anything is written.\n" +
			"? [1 of 2] Domain of the API groups (default: my.domain): " + domain + "\n? [2 of 2] Go module path (default: " + domain + "/" + name + "): " + domain + "/" + name
		plain := strings.NewReplacer(" ", "", "\n", "", ">", "") // a question that leaves no space for the answer ends with a line
		if plain.Replace(prompts) != plain.Replace(want) {
			t.Errorf("at %d columns:\n%s", columns, prompts)
		}
		if !strings.Contains(strings.ReplaceAll(screen, "\n", ""), "--repo example.com/operator? Go on") {
			t.Errorf("the changed answer is not in the command:\n%s", screen)
		}
	}
}

// TestEditKeys checks the keys that edit an answer, and that each line of pasted text answers one question.
func TestEditKeys(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{
		"backspace":         "example.comm\x7f",
		"Ctrl-U":            "wrong.org\x15example.com",
		"Ctrl-W":            "example.com wrong\x17",
		"Ctrl-A and Ctrl-K": "wrong.org\x01\x0bexample.com",
		"Ctrl-A and Ctrl-E": "xample.co\x01e\x05m",
		"Home and End":      "xample.co\x1b[He\x1b[Fm",
		"arrows and Delete": "exampleX.com\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[3~",
	} {
		dir := t.TempDir()
		screen := atTerminal(t, dir, []answer{{"(default: my.domain)", keys + "\r"}}, "init", "--repo", "example.com/x", "--project-name", "x")
		if files := clitest.ReadTree(t, dir); !strings.Contains(files["PROJECT"], "domain: example.com\n") {
			t.Errorf("%s: the answer is not example.com:\n%s", name, screen)
		}
	}
	dir := t.TempDir()
	screen := atTerminal(t, dir, []answer{
		{"What do you write the operator with?", "go\rexample.com\rexample.com/x\r"},
		{"Go on with these answers?", "\r"},
	}, "init")
	if want := "operon init --plugins go --domain example.com --repo example.com/x\n"; !strings.Contains(screen, want) {
		t.Errorf("no %q after lines were pasted:\n%s", want, screen)
	}
}

// TestCanceledAtATerminal checks that nothing is written if the user cancels at the last question, or with Ctrl-C in a list or a line.
func TestCanceledAtATerminal(t *testing.T) {
	t.Parallel()
	const list = "What do you write the operator with?"
	for _, test := range []struct {
		answers []answer
		want    string
	}{
		{[]answer{{list, "ansible\r"}, {"Domain", "\r"}, {"Name of the project", "\r"}, {"Go on with these answers?", down + down + "\r"}}, "canceled; nothing was written"},
		{[]answer{{list, "\x03"}}, "interrupted; nothing was written"},
		{[]answer{{list, "helm\r"}, {"Domain", "example.com\x03"}}, "interrupted; nothing was written\nthe command with your answers: operon init --plugins helm"},
	} {
		dir := filepath.Join(t.TempDir(), "My_Operator")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		terminal := clitest.StartTerminal(t, dir, 80, nil, "init")
		for _, a := range test.answers {
			terminal.Type(a.after, a.keys)
		}
		if screen := terminal.MustEnd(1); !strings.Contains(screen, "error: "+test.want) || len(clitest.ReadTree(t, dir)) > 0 {
			t.Errorf("no %q, or files were written:\n%s", test.want, screen)
		}
	}
}
