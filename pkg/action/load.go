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

// Layouts are the layouts of projects that a command supports.
type Layouts int

const (
	// CurrentLayout is the layout that Init creates.
	CurrentLayout Layouts = iota
	// EditableLayouts are CurrentLayout and the layouts without Go code.
	EditableLayouts
	// RecentLayouts are the current layout and the one before.
	RecentLayouts
	// ScaffoldedLayouts are RecentLayouts and the layouts without Go code.
	ScaffoldedLayouts
	// UpgradableLayouts are all layouts and versions of PROJECT that Upgrade supports.
	UpgradableLayouts
)

// load reads PROJECT from a tree and checks the layout. With UpgradableLayouts, PROJECT is converted to the current version.
func (c *Config) load(tree *worktree.Tree, layouts Layouts) (*project.Config, error) {
	data, err := tree.ReadFile(project.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", project.FileName, diag.Cause(err))
	}
	if layouts == UpgradableLayouts {
		data, err = project.Convert(data, formerName(tree), func(dir, kind string) (project.AlphaFacts, error) { return alphaFacts(tree, dir, kind) })
		if err != nil {
			return nil, err
		}
	}
	config, err := project.Parse(data, c.facts()...)
	if err != nil {
		return nil, err
	}
	if mod, err := tree.ReadFile("go.mod"); err == nil {
		config.FollowModule(modfile.ModulePath(mod))
	}
	if !config.HasGoCode() {
		config.FollowPlurals(crdPlurals(tree, config.Resources()))
		if layouts != CurrentLayout && layouts != RecentLayouts {
			return config, nil
		}
	}
	switch {
	case layouts == RecentLayouts, layouts == ScaffoldedLayouts:
		return config, config.CheckOlderLayout()
	case layouts == UpgradableLayouts && config.OlderLayout():
		return config, nil
	}
	return config, config.CheckLayout()
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

// alphaFacts reads the facts about a kind that PROJECT of version 3-alpha does not contain from its code.
func alphaFacts(tree *worktree.Tree, dir, kind string) (project.AlphaFacts, error) {
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
