package action

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Layouts are the layouts of projects that a command supports, as a set.
type Layouts int

// Layouts of projects.
const (
	// CurrentLayout is the layout of Go projects that Init creates, and OlderLayout the one before.
	CurrentLayout Layouts = 1 << iota
	OlderLayout
	// LayoutsWithoutGo are the layouts of projects whose image contains charts, roles or playbooks instead of code.
	LayoutsWithoutGo
	// UpgradableLayouts are all layouts and versions of PROJECT that Upgrade supports. PROJECT is converted to the current version.
	UpgradableLayouts

	// RecentLayouts are for Go projects, EditableLayouts are what Init creates, and ScaffoldedLayouts contains both.
	RecentLayouts     = CurrentLayout | OlderLayout
	EditableLayouts   = CurrentLayout | LayoutsWithoutGo
	ScaffoldedLayouts = RecentLayouts | LayoutsWithoutGo
	// AnyLayout includes the layouts of other tools: operators of all kinds have bundles.
	AnyLayout Layouts = 0
)

// check returns an error for a project whose layout is none of the set.
func (l Layouts) check(config *project.Config) error {
	switch withoutGo := !config.HasGoCode(); {
	case l == AnyLayout, withoutGo && l&(LayoutsWithoutGo|UpgradableLayouts) != 0, l&UpgradableLayouts != 0 && config.OlderLayout():
		return nil
	case l&OlderLayout != 0:
		return config.CheckOlderLayout()
	}
	return config.CheckLayout()
}

// LoadFrom reads PROJECT from a tree and checks the layout.
func (c *Config) LoadFrom(tree *worktree.Tree, layouts Layouts) (*project.Config, error) {
	data, err := tree.ReadFile(project.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", project.FileName, diag.Cause(err))
	}
	if layouts&UpgradableLayouts != 0 {
		data, err = project.Convert(data, formerName(tree), func(dir, kind string) (project.AlphaFacts, error) { return AlphaFacts(tree, dir, kind) })
		if err != nil {
			return nil, err
		}
	}
	config, err := project.Parse(data, FactsOf(c.Layouts)...)
	if err != nil {
		return nil, err
	}
	if mod, err := tree.ReadFile("go.mod"); err == nil {
		config.FollowModule(modfile.ModulePath(mod))
	}
	config.FollowCRDs(crdNames(tree))
	return config, layouts.check(config)
}

// formerName returns the name of a project whose PROJECT file contains none: the name prefix of its objects, or else the name of
// its directory.
func formerName(tree *worktree.Tree) string {
	if text, err := tree.ReadFile(project.DefaultKustomization); err == nil {
		for line := range strings.Lines(string(text)) {
			prefix, ok := strings.CutPrefix(line, "namePrefix:")
			if name := strings.TrimSuffix(strings.Trim(prefix, " \t\r\n\"'"), "-"); ok && name != "" {
				return name
			}
		}
	}
	return strings.ToLower(filepath.Base(tree.Root()))
}

// AlphaFacts reads the facts about a kind that PROJECT of version 3-alpha does not contain from its code.
func AlphaFacts(tree *worktree.Tree, dir, kind string) (project.AlphaFacts, error) {
	stem := strings.ToLower(kind)
	controllers := project.OldControllerDir
	if strings.HasPrefix(dir, project.OldAPIDir+"/") {
		controllers = path.Join(controllers, path.Base(path.Dir(dir)))
	}
	facts := project.AlphaFacts{Controller: tree.Exists(path.Join(controllers, stem+"_controller.go")), Namespaced: true}
	for _, name := range []string{stem + "_types.go", stem + "_webhook.go"} {
		text, err := tree.ReadFile(path.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return facts, fmt.Errorf("reading %s: %w", path.Join(dir, name), diag.Cause(err))
		}
		for line := range strings.Lines(string(text)) {
			marker, isMarker := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")), "+kubebuilder:resource:")
			if isMarker && strings.Contains(marker, "scope=Cluster") {
				facts.Namespaced = false
			}
			method := strings.HasPrefix(line, "func (") && strings.Contains(line, "*"+kind+")")
			facts.Defaulting = facts.Defaulting || method && strings.Contains(line, ") Default()")
			facts.Validation = facts.Validation || method && strings.Contains(line, ") ValidateCreate()")
		}
	}
	return facts, nil
}
