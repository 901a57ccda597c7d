package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/help"
)

// visitCommands calls visit with all commands, hidden ones as well.
func visitCommands(program string, visit func(c *cobra.Command)) {
	a := newApp(&Env{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, FS: afero.NewMemMapFs()}, program)
	a.args = []string{cobra.ShellCompRequestCmd}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		a.groupFlags(c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
		visit(c)
	}
	walk(newRoot(a))
}

// TestHelpTexts checks the form of the help of all commands: its width and one notation for values and defaults.
func TestHelpTexts(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"operon", "operator-sdk"} {
		visitCommands(program, func(c *cobra.Command) {
			text := help.Text(c, help.Columns, false)
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > help.Columns {
					t.Errorf("%s: a line has %d columns: %s", c.CommandPath(), n, line)
				}
			}
			if before, _, found := strings.Cut(text, "\nExamples:\n"); found && strings.Count(before, "\n") > 20 {
				t.Errorf("%s: the first screen of the help, of 24 lines, has no example", c.CommandPath())
			}
			begun := map[string]bool{}
			for paragraph := range strings.SplitSeq(c.Long, "\n\n") {
				words := strings.Fields(paragraph)
				start := strings.Join(words[:min(5, len(words))], " ")
				if begun[start] && !strings.HasPrefix(paragraph, " ") { // listings may repeat a line
					t.Errorf("%s: two paragraphs of the help begin with %q", c.CommandPath(), start)
				}
				begun[start] = true
			}
			if strings.Contains(text, "`") {
				t.Errorf("%s: the help contains a back quote", c.CommandPath())
			}
			if first := []rune(c.Short)[0]; utf8.RuneCountInString(c.Short) > 60 || !unicode.IsUpper(first) || strings.HasSuffix(c.Short, ".") {
				t.Errorf("%s: the short description must be a phrase of at most 60 characters: %s", c.CommandPath(), c.Short)
			}
		})
	}
	visitCommands("operon", func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains([]string{"string", "strings", "stringArray", "stringToString", "int"}, help.ValueName(f)) && !f.Hidden {
				t.Errorf("%s --%s: the value has no name", c.CommandPath(), f.Name)
			}
			if n := strings.Count(help.FlagDescription(f), "(default"); n > 1 || strings.Contains(f.Usage, "(default ") || strings.Contains(f.Usage, "not given") {
				t.Errorf("%s --%s: must describe its default once, as (default: VALUE): %s", c.CommandPath(), f.Name, help.FlagDescription(f))
			}
		})
	})
}

// variable matches the name of an environment variable that code reads.
var variable = regexp.MustCompile(`(?:etenv|\benv|\bnamed|\bbelow|\bsetting)\("([A-Z][A-Z_]+)"`)

// TestEnvironmentHelp checks that the help lists the environment variables that are read, except the go command's.
func TestEnvironmentHelp(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	for _, dir := range []string{".", "internal/env", "internal/output", "../pkg/controlplane", "../pkg/image", "../pkg/kube", "../pkg/local"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, match := range variable.FindAllSubmatch(data, -1) {
				read[string(match[1])] = true
			}
		}
	}
	if len(read) < 15 {
		t.Errorf("found %d variables, the pattern is wrong", len(read))
	}
	for name := range read {
		if !strings.Contains(help.Environment, name) && !strings.HasPrefix(name, "GO") {
			t.Errorf("'help environment' does not list %s", name)
		}
	}
}

// A fullDisk is an output that cannot be written to.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestHelpOnFullDisk expects help that cannot be printed to fail.
func TestHelpOnFullDisk(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"help", "--help", "create api --help", "help bundle", "help environment", "tool"} {
		var errOut bytes.Buffer
		env := &Env{In: strings.NewReader(""), Out: fullDisk{}, Err: &errOut, FS: afero.NewMemMapFs(), Dir: t.TempDir(), Now: time.Now}
		if code := Main(t.Context(), env, append([]string{"operon"}, strings.Fields(args)...)); code != 1 || !strings.Contains(errOut.String(), "no space left on device") {
			t.Errorf("%s: exit code %d\n%s", args, code, errOut.String())
		}
	}
}
