package cmd_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

const (
	// maxPredicates is the maximum number of questions about the layout of a project, outside of the packages and files that implement
	// layouts. Ask for a fact, or add a method to action.Kinds, instead of another one.
	maxPredicates = 10
	// predicates matches such questions.
	predicates = `\.(HasGoCode|IsHelm|IsAnsible|IsChart|Technology|RootLayout|HasTypes)\(|[rR]untime [!=]= nil`
)

// TestLayoutPredicates counts the places that depend on the layout of a project, instead of on its facts.
func TestLayoutPredicates(t *testing.T) {
	t.Parallel()
	question := regexp.MustCompile(predicates)
	implements := regexp.MustCompile(`^pkg/(layout|project)/|^pkg/action/(go|helm|ansible)kinds/`)
	var found []string
	for _, dir := range []string{"cmd", "pkg"} {
		err := fs.WalkDir(os.DirFS(".."), dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || implements.MatchString(name) {
				return err
			}
			content, err := os.ReadFile("../" + name)
			for line := range strings.Lines(string(content)) {
				for range question.FindAllString(line, -1) {
					found = append(found, name+": "+strings.TrimSpace(line))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) > maxPredicates {
		t.Errorf("%d places ask about the layout, at most %d may:\n%s", len(found), maxPredicates, strings.Join(found, "\n"))
	}
}

// TestCommonTemplates checks that templates of all layouts don't depend on the layout: a layout replaces their blocks.
func TestCommonTemplates(t *testing.T) {
	t.Parallel()
	condition := regexp.MustCompile(`{{-? *(else )?if [^}]*\.(Layout|Runtime|Helm|Ansible|HasGoCode)\b`)
	err := fs.WalkDir(os.DirFS("../templates"), "common", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile("../templates/" + name)
		if found := condition.Find(content); found != nil {
			t.Errorf("%s: %s", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
