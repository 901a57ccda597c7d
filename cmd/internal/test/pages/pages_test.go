package pages

import (
	"bytes"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/testdata/console"
)

var (
	// inlineCommand matches a command in the text of a page, which has no blocks.
	inlineCommand = regexp.MustCompile("`(operon [a-z][^`]*)`")
	blocks        = regexp.MustCompile("(?ms)^```.*?^```$")
)

// executedElsewhere are the pages that TestTutorial and the end-to-end tests execute.
var executedElsewhere = []string{"develop.md", "tutorial.md", "tutorial-ansible.md", "tutorial-cluster.md", "tutorial-helm.md", "tutorial-test.md"}

// needMore are the beginnings of commands that this test only parses, with what they need.
var needMore = map[string]string{
	"operon alpha update":                "a git repository with the release before",
	"operon cleanup":                     "a cluster",
	"operon deploy":                      "a cluster",
	"operon image build":                 "minutes to compile",
	"operon image catalog":               "an image from the network",
	"operon image load":                  "an image",
	"operon image save":                  "an image",
	"operon chart package --sign":        "a key",
	"operon olm":                         "a cluster",
	"operon render":                      "a control plane",
	"operon run":                         "a control plane",
	"operon scorecard bundle --pod":      "a cluster",
	"operon test":                        "a control plane",
	"operon tool setup-envtest":          "the network",
	"operon undeploy":                    "a cluster",
	"operon create api --group cert-":    "the network",
	"operon create webhook --group cert": "the network",
}

// registry is the registry on the pages. A local one replaces it.
const registry = "registry.example.com"

// TestPages executes the commands of Operon on all pages of the documentation. They must succeed in a project with the output on the page, or
// fail if the page shows an error. Commands that need more than files must have flags that exist.
func TestPages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(clitest.Root("docs", "*.md"))
	if err != nil || len(files) < 40 {
		t.Fatalf("found %d pages: %v", len(files), err)
	}
	for name := range projects {
		if !slices.Contains(files, clitest.Root("docs", name)) {
			t.Errorf("the table of projects has %s, which does not exist", name)
		}
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := clitest.ReadFile(t, file)
			if strings.Contains(text, registry) {
				text = strings.ReplaceAll(text, registry, clitest.StartRegistry(t))
			}
			steps, err := console.Parse(text, "")
			if err != nil {
				if err.Error() == "no commands found" {
					return
				}
				t.Fatal(err)
			}
			p := page{T: t, project: projects[name], parseOnly: slices.Contains(executedElsewhere, name)}
			p.before = maps.Clone(p.before)
			for _, match := range inlineCommand.FindAllStringSubmatch(blocks.ReplaceAllString(text, ""), -1) {
				p.parse(strings.Fields(match[1]))
			}
			for _, s := range steps {
				p.step(s)
			}
			for line := range p.before {
				t.Errorf("the page does not have %q", line)
			}
			if p.changed {
				clitest.CheckTypes(t, p.dir, ".")
			}
		})
	}
}

// A page is being executed.
type page struct {
	*testing.T
	project
	parseOnly bool
	// dir is the directory of the project, or empty before its first command. block is the block of the last command.
	dir   string
	block int
	// imports is a file with the last block that has nothing else.
	imports string
	// changed reports whether code of the page is in the project.
	changed bool
}

// step executes a command, or uses a block of code.
func (p *page) step(s console.Step) {
	p.Helper()
	if s.Line == "" {
		p.use(s)
		return
	}
	if s.Interrupt || s.Words[0] != "operon" {
		return // another tool's
	}
	if slices.Contains(s.Words, "|") || slices.Contains(s.Words, "<") {
		p.parse(s.Words)
		return
	}
	words := s.Words
	if i := slices.Index(words, ">"); i >= 0 {
		words = words[:i]
	}
	p.parse(words)
	for prefix := range needMore {
		if strings.HasPrefix(s.Line, prefix) {
			return
		}
	}
	if p.parseOnly || slices.Contains(p.leftOut, s.Block) {
		return
	}
	p.open(s)
	if edits := p.before[s.Line]; len(edits) > 0 {
		edits[0](p)
		if p.before[s.Line] = edits[1:]; len(edits) == 1 {
			delete(p.before, s.Line)
		}
	}
	code, output := p.run(p.dir, words...)
	fails := slices.ContainsFunc(s.Want, func(line string) bool { return strings.HasPrefix(line, "error:") })
	if fails != (code != 0) {
		p.Fatalf("$ %s: exit code %d\n%s", s.Line, code, output)
	}
	if len(s.Want) > 0 {
		if err := console.Compare(s.Want, output); err != nil {
			p.Errorf("$ %s: %v; it prints\n%s", s.Line, err, output)
		}
	}
}

// open makes the project for a step, if the page has none yet.
func (p *page) open(s console.Step) {
	p.Helper()
	isInit := slices.Contains(s.Words, "init")
	if p.dir == "" || isInit || p.fresh && s.Block != p.block {
		switch {
		case isInit:
			p.dir = p.TempDir()
		case p.commands == nil:
			p.dir = clitest.CopyGolden(p.T, "memcached-operator")
		default:
			p.dir = clitest.NewProject(p.T, p.commands...)
		}
	}
	p.block = s.Block
}

// parse checks that a command and its flags exist. The value of the last flag may be left out.
func (p *page) parse(words []string) {
	p.Helper()
	end := slices.IndexFunc(words, func(w string) bool { return w == "--" || w == "|" || w == "<" || w == "tool" })
	if end < 0 {
		end = len(words)
	}
	called := slices.Clone(words[:end])
	at := len(called)
	if strings.HasPrefix(called[at-1], "-") {
		at--
	}
	code, output := p.run(p.TempDir(), slices.Insert(called, at, "--help")...)
	if code != 0 && !strings.Contains(output, "flag needs an argument") {
		p.Errorf("$ %s: exit code %d\n%s", strings.Join(words, " "), code, output)
	}
}

// run runs a command of the page in dir and returns what it prints, without a terminal.
func (p *page) run(dir string, words ...string) (code int, output string) {
	p.Helper()
	var out bytes.Buffer
	env := clitest.Env(p.T, dir)
	env.Out, env.Err = &out, &out
	return cmd.Main(p.Context(), env, words), out.String()
}

// must runs a command that is not on the page.
func (p *page) must(words ...string) {
	p.Helper()
	if code, output := p.run(p.dir, words...); code != 0 {
		p.Fatalf("%s: exit code %d\n%s", strings.Join(words, " "), code, output)
	}
}
