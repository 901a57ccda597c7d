package gocode

import (
	"bytes"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Webhooks are the webhooks in the packages of their API types, as kubebuilder before v4.3 wrote them. The types have
// the methods Default, ValidateCreate, ValidateUpdate and ValidateDelete, which controller-runtime ignores since v0.20.
type Webhooks struct {
	tree     *worktree.Tree
	program  *program
	packages []*apiPackage
	notes    diag.Findings
}

// A webhook holds the webhooks of a kind.
type webhook struct {
	pkg      *apiPackage
	resource project.Resource
	setup    *setup
	// defaulter is the method of the type. validators are those for creation, update and deletion, all or none.
	defaulter  *hookMethod
	validators []*hookMethod
	// options holds the builder methods by which the set-up adds webhooks of other types.
	options map[string]bool
	asserts []assertion
	markers []*marker
}

// A hookMethod is a method of an old webhook interface.
type hookMethod struct {
	name string
	// warns reports whether it returns warnings besides the error.
	warns bool
}

func (h *webhook) kind() string     { return h.resource.Kind }
func (h *webhook) defaulting() bool { return h.defaulter != nil || h.options["WithDefaulter"] }
func (h *webhook) validation() bool { return len(h.validators) > 0 || h.options["WithValidator"] }

// newSetup returns the name of the current set-up function.
func (h *webhook) newSetup() string { return "Setup" + h.kind() + "WebhookWithManager" }

// FindWebhooks finds the webhooks in the packages of API types and records them in config, and in PROJECT of the tree,
// as the current scaffold does.
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
		pkg.assignMarkers()
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

// open returns the package in a directory, which is parsed once.
func (w *Webhooks) open(dir string, r project.Resource, config *project.Config) *apiPackage {
	if i := slices.IndexFunc(w.packages, func(p *apiPackage) bool { return p.dir == dir }); i >= 0 {
		return w.packages[i]
	}
	pkg := &apiPackage{dir: dir, path: r.Path, target: project.WebhookDir}
	if config.MultiGroup() {
		pkg.target = path.Join(pkg.target, r.Group)
	}
	pkg.target = path.Join(pkg.target, r.Version)
	pkg.read(w.program)
	w.packages = append(w.packages, pkg)
	return pkg
}

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
	current, err := w.tree.ReadFile(project.FileName)
	if err != nil {
		return fmt.Errorf("reading %s: %w", project.FileName, err)
	}
	if text := config.Bytes(); !bytes.Equal(text, current) {
		w.tree.WriteFile(project.FileName, text, 0o644)
	}
	return nil
}

// spokes returns the versions of a kind that convert to and from the hub.
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

// Move moves the webhooks to their package in the current scaffold, whose files are given. The methods of types are
// kept, because they may use unexported names; the new webhooks call them. The notes list what must be moved by hand.
func (w *Webhooks) Move(current map[string][]byte) (diag.Findings, error) {
	for _, pkg := range w.packages {
		var moved []*webhook
		for _, h := range pkg.webhooks {
			ok, err := w.move(h, current)
			if err != nil {
				return nil, err
			}
			if ok {
				moved = append(moved, h)
			}
		}
		pkg.webhooks = moved
	}
	// Callers are rewritten before the files of the packages change.
	w.callers(current)
	for _, pkg := range w.packages {
		if len(pkg.webhooks) > 0 {
			pkg.cut(w.tree)
			w.moveTests(pkg, current)
		}
	}
	return sortNotes(w.notes), nil
}

// move writes the new file with the webhooks of a kind.
func (w *Webhooks) move(h *webhook, current map[string][]byte) (bool, error) {
	name := path.Join(h.pkg.target, strings.ToLower(h.kind())+"_webhook.go")
	if w.tree.Exists(name) {
		w.leaveOut(h, name+" already exists")
		return false, nil
	}
	for _, other := range h.pkg.files {
		for _, n := range h.pkg.names[other.Name] {
			if h.setup.matches(n) {
				w.leaveOut(h, other.Name+" calls the function")
				return false, nil
			}
		}
	}
	text, ok := current[name]
	if !ok {
		return false, fmt.Errorf("the current scaffold has no %s", name)
	}
	f := newSource(w.program, name, text)
	if f == nil {
		return false, fmt.Errorf("the current scaffold of %s is not valid Go", name)
	}
	if why := h.write(f); why != "" {
		w.leaveOut(h, why)
		return false, nil
	}
	f.apply()
	w.tree.WriteFile(name, f.bytes(), 0o644)
	return true, nil
}

// leaveOut adds a note about webhooks that are not moved.
func (w *Webhooks) leaveOut(h *webhook, why string) {
	w.notes.Addf(h.setup.file.at(h.setup.decl.Pos()), "webhooks of %s not moved: %s; set them up in the function %s of %s",
		h.kind(), why, h.newSetup(), h.pkg.target)
}
