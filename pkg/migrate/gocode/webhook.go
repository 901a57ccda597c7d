package gocode

import (
	"bytes"
	"fmt"
	"go/ast"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Webhooks are the webhooks of a project that are set up beside its API types, as kubebuilder before v4.3 wrote
// them. There the types themselves have the methods Default and ValidateCreate, ValidateUpdate and ValidateDelete,
// which controller-runtime does not look for since v0.20.
type Webhooks struct {
	tree     *worktree.Tree
	program  *program
	packages []*apiPackage
	notes    []Note
}

// webhook is what one kind has.
type webhook struct {
	pkg      *apiPackage
	resource project.Resource
	setup    *setup
	// defaulter is the method of the type, validators are those for creation, update and deletion, all or none.
	defaulter  *hookMethod
	validators []*hookMethod
	// given tells which webhooks the set-up is given as values of types of their own, by the method that does so.
	given   map[string]bool
	asserts []assertion
	markers []*marker
}

// hookMethod is one that an interface of before asks for.
type hookMethod struct {
	name string
	decl *ast.FuncDecl
	// warns tells that it returns warnings besides the error.
	warns bool
}

func (h *webhook) kind() string     { return h.resource.Kind }
func (h *webhook) defaulting() bool { return h.defaulter != nil || h.given["WithDefaulter"] }
func (h *webhook) validation() bool { return len(h.validators) > 0 || h.given["WithValidator"] }

// newSetup is the name of the function that sets the webhooks up today.
func (h *webhook) newSetup() string { return "Setup" + h.kind() + "WebhookWithManager" }

// FindWebhooks finds the webhooks beside API types and records them in config as today's scaffold would. What it
// records is in the tree's PROJECT too.
func FindWebhooks(tree *worktree.Tree, config *project.Config) (*Webhooks, error) {
	p, err := readProgram(tree)
	if err != nil {
		return nil, err
	}
	w := &Webhooks{tree: tree, program: p}
	for _, r := range config.Resources() {
		dir, own := p.dirOf(r.Path)
		if !own || r.Path == "" {
			continue
		}
		pkg := w.open(dir, r, config)
		if h := w.find(pkg, r); h != nil {
			pkg.webhooks = append(pkg.webhooks, h)
		}
	}
	for _, pkg := range w.packages {
		pkg.attribute()
	}
	w.distinguish()
	if err := w.record(config); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(w.packages, func(pkg *apiPackage) bool { return len(pkg.webhooks) > 0 }) {
		w.patches(config)
	}
	return w, nil
}

// open is the package in a folder, read once.
func (w *Webhooks) open(dir string, r project.Resource, config *project.Config) *apiPackage {
	if i := slices.IndexFunc(w.packages, func(p *apiPackage) bool { return p.dir == dir }); i >= 0 {
		return w.packages[i]
	}
	pkg := &apiPackage{dir: dir, path: r.Path, target: "internal/webhook"}
	if config.MultiGroup() {
		pkg.target = path.Join(pkg.target, r.Group)
	}
	pkg.target = path.Join(pkg.target, r.Version)
	pkg.read(w.program)
	w.packages = append(w.packages, pkg)
	return pkg
}

// record makes config say what was found.
func (w *Webhooks) record(config *project.Config) error {
	for _, pkg := range w.packages {
		for _, h := range pkg.webhooks {
			hooks := project.Webhooks{}
			if old := h.resource.Webhooks; old != nil {
				hooks = *old
				hooks.Spoke = slices.Clone(old.Spoke)
			}
			hooks.WebhookVersion, hooks.Defaulting, hooks.Validation = "v1", h.defaulting(), h.validation()
			if pkg.hasMethod(h.kind(), "Hub") {
				spokes := w.spokes(h.resource, config)
				hooks.Conversion = hooks.Conversion || len(spokes) > 0
				for _, version := range spokes {
					if !slices.Contains(hooks.Spoke, version) {
						hooks.Spoke = append(hooks.Spoke, version)
					}
				}
			}
			if reflect.DeepEqual(h.resource.Webhooks, &hooks) {
				continue
			}
			h.resource.Webhooks = &hooks
			if err := config.UpdateResource(h.resource); err != nil {
				return err
			}
		}
	}
	have, err := w.tree.ReadFile(project.FileName)
	if err != nil {
		return fmt.Errorf("reading %s: %w", project.FileName, err)
	}
	if text := config.Bytes(); !bytes.Equal(text, have) {
		w.tree.WriteFile(project.FileName, text, 0o644)
	}
	return nil
}

// spokes are the versions of a kind that convert to and from the hub.
func (w *Webhooks) spokes(hub project.Resource, config *project.Config) []string {
	var versions []string
	for _, r := range config.Resources() {
		if r.Group != hub.Group || r.Kind != hub.Kind || r.Version == hub.Version {
			continue
		}
		for _, pkg := range w.packages {
			if pkg.path == r.Path && pkg.hasMethod(r.Kind, "ConvertTo") && pkg.hasMethod(r.Kind, "ConvertFrom") {
				versions = append(versions, r.Version)
			}
		}
	}
	return versions
}

// Move moves what was found to where today's scaffold, whose files are given, has webhooks. The methods of the types
// stay where they are, as they may use what only their package can; webhooks of today's form call them. The notes
// tell what has to be moved by hand.
func (w *Webhooks) Move(today map[string][]byte) ([]Note, error) {
	for _, pkg := range w.packages {
		var moved []*webhook
		for _, h := range pkg.webhooks {
			ok, err := w.move(h, today)
			if err != nil {
				return nil, err
			}
			if ok {
				moved = append(moved, h)
			}
		}
		pkg.webhooks = moved
	}
	// The callers are read before anything is written into the files of the packages.
	w.callers(today)
	for _, pkg := range w.packages {
		if len(pkg.webhooks) > 0 {
			pkg.cut(w.tree)
			w.moveTests(pkg, today)
		}
	}
	return sortNotes(w.notes), nil
}

// move writes the new file of a kind's webhooks.
func (w *Webhooks) move(h *webhook, today map[string][]byte) (bool, error) {
	name := path.Join(h.pkg.target, strings.ToLower(h.kind())+"_webhook.go")
	if w.tree.Exists(name) {
		w.left(h, "there is "+name+" already")
		return false, nil
	}
	for _, other := range h.pkg.files {
		for _, n := range h.pkg.names[other.Name] {
			if h.setup.is(n) {
				w.left(h, other.Name+" calls the function")
				return false, nil
			}
		}
	}
	text, ok := today[name]
	if !ok {
		return false, fmt.Errorf("today's scaffold has no %s", name)
	}
	f := newSource(w.program, name, text)
	if f == nil {
		return false, fmt.Errorf("today's scaffold of %s cannot be read", name)
	}
	if why := h.write(f); why != "" {
		w.left(h, why)
		return false, nil
	}
	f.apply()
	w.tree.WriteFile(name, f.bytes(), 0o644)
	return true, nil
}

// left tells of webhooks that stay as they are.
func (w *Webhooks) left(h *webhook, why string) {
	f := h.setup.file
	w.notes = append(w.notes, Note{File: f.Name, Line: f.Line(h.setup.decl.Pos()), Message: fmt.Sprintf(
		"the webhooks of %s stay here: %s; set them up by hand, in the function %s of %s", h.kind(), why, h.newSetup(), h.pkg.target)})
}
