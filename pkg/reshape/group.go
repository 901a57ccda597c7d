package reshape

import (
	"context"
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

const (
	controllerDir = "internal/controller"
	webhookDir    = "internal/webhook"
)

// Options say where a reshape happens.
type Options struct {
	// Env is the environment of the go command.
	Env []string
	// Header is the comment that starts Go files, Program the name that texts call the command line by.
	Header, Program string
}

// Regroup moves the APIs, controllers and webhooks of a project into the layout of several groups, or
// back into that of one, and rewrites all that names them. config gets the new layout. What is wrong with
// the code, or would be after the move, is returned as codegen.Findings; nothing is to be written then.
func Regroup(ctx context.Context, tree *scaffold.Tree, config *project.Config, multi bool, o Options) error {
	if findings := groupFindings(config, multi); len(findings) > 0 {
		return findings
	}
	m, err := readModule(tree)
	if err != nil {
		return err
	}
	p := &plan{
		tree: tree, m: m, config: config, multi: multi,
		moves:   &moves{files: map[string][]destination{}, alias: map[string]string{}},
		folders: map[string]string{},
	}
	if err := p.work(); err != nil {
		return err
	}
	renames := p.renames()
	if err := p.conflicts(renames); err != nil {
		return err
	}
	if len(p.moves.files) > 0 {
		if err := p.carryOut(ctx, o); err != nil {
			return err
		}
	}
	if err := p.rename(renames); err != nil {
		return err
	}
	if err := p.texts(); err != nil {
		return err
	}
	before := config.MultiGroup()
	if err := p.record(); err != nil {
		return err
	}
	return regroupDocs(tree, config, before, o)
}

// groupFindings tells what keeps a project from a layout.
func groupFindings(config *project.Config, multi bool) project.Findings {
	var findings project.Findings
	if multi {
		packages := map[string]string{}
		for _, r := range config.Resources() {
			name := r.PackageName()
			if r.Group == "" || !local(r, config) && !r.HasController() {
				continue
			}
			if token.IsKeyword(name) {
				findings = append(findings, project.Finding{Field: "--multigroup", Value: "true",
					Problem: fmt.Sprintf("group %s would be the Go package %s, which is a keyword", r.Group, name)})
			}
			if other, ok := packages[name]; ok && other != r.Group {
				findings = append(findings, project.Finding{Field: "--multigroup", Value: "true",
					Problem: fmt.Sprintf("groups %s and %s would both be the Go package %s", other, r.Group, name)})
			}
			packages[name] = r.Group
		}
		return findings
	}
	groups := map[string]bool{}
	for _, r := range config.Resources() {
		if local(r, config) || r.HasController() || r.Webhooks != nil {
			groups[r.Group] = true
		}
	}
	if len(groups) > 1 {
		return project.Findings{{Field: "--multigroup", Value: "false",
			Problem: fmt.Sprintf("the project has %d groups (%s), and the layout without groups has room for one", len(groups), strings.Join(sorted(groups), ", "))}}
	}
	return nil
}

// local tells whether a resource's types belong to the project.
func local(r project.Resource, config *project.Config) bool {
	return strings.HasPrefix(r.Path, config.Repo()+"/")
}

// plan is a move worked out.
type plan struct {
	tree   *scaffold.Tree
	m      *module
	config *project.Config
	multi  bool
	moves  *moves
	// folders are moved as a whole, from old to new.
	folders map[string]string
	paths   map[project.GVK]string
}

// work finds out what goes where.
func (p *plan) work() error {
	p.paths = map[project.GVK]string{}
	controllers := map[string]map[string]owner{} // folder → file stem → owner
	webhooks := map[string]map[string]owner{}
	for _, r := range p.config.Resources() {
		if local(r, p.config) {
			from := strings.TrimPrefix(r.Path, p.config.Repo()+"/")
			to := p.apiDir(r)
			if (from == "api" || strings.HasPrefix(from, "api/")) && from != to {
				p.folders[from] = to
				p.paths[r.GVK] = path.Join(p.config.Repo(), to)
			}
		}
		for _, name := range r.Controllers {
			for _, from := range []string{controllerDir, path.Join(controllerDir, r.Group)} {
				claim(controllers, from, strings.ReplaceAll(name, "-", "_")+"_controller", p.controllerOwner(r))
			}
		}
		if r.Webhooks != nil {
			for _, from := range []string{path.Join(webhookDir, r.Version), path.Join(webhookDir, r.Group, r.Version)} {
				claim(webhooks, from, r.FileStem()+"_webhook", p.webhookOwner(r))
			}
		}
		p.aliases(r)
	}
	for _, from := range sorted(p.folders) {
		if err := p.whole(from, p.folders[from]); err != nil {
			return err
		}
	}
	for _, from := range sorted(controllers) {
		if err := p.split(from, controllers[from]); err != nil {
			return err
		}
	}
	for _, from := range sorted(webhooks) {
		if err := p.split(from, webhooks[from]); err != nil {
			return err
		}
	}
	return nil
}

// owner is the group that a file belongs to, as the folder and package that it goes to.
type owner struct{ dir, pkg, group string }

func claim(all map[string]map[string]owner, from, stem string, o owner) {
	if all[from] == nil {
		all[from] = map[string]owner{}
	}
	all[from][stem] = o
}

func (p *plan) apiDir(r project.Resource) string {
	if p.multi {
		return path.Join("api", r.Group, r.Version)
	}
	return path.Join("api", r.Version)
}

func (p *plan) controllerOwner(r project.Resource) owner {
	if p.multi && r.Group != "" {
		return owner{path.Join(controllerDir, r.Group), r.PackageName(), r.Group}
	}
	return owner{controllerDir, "controller", r.Group}
}

func (p *plan) webhookOwner(r project.Resource) owner {
	if p.multi {
		return owner{path.Join(webhookDir, r.Group, r.Version), r.Version, r.Group}
	}
	return owner{path.Join(webhookDir, r.Version), r.Version, r.Group}
}

// aliases notes by which names create api and create webhook import packages, in both layouts.
func (p *plan) aliases(r project.Resource) {
	p.moves.alias[path.Join(webhookDir, r.Version)] = "webhook" + r.Version
	if r.Group != "" {
		p.moves.alias[path.Join(controllerDir, r.Group)] = r.PackageName() + "controller"
		p.moves.alias[path.Join(webhookDir, r.Group, r.Version)] = "webhook" + r.PackageName() + r.Version
	}
}

// whole moves a folder with all that is below it.
func (p *plan) whole(from, to string) error {
	names, err := p.tree.Walk(from, nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		d := destination{name: path.Join(to, strings.TrimPrefix(name, from+"/"))}
		if f := p.m.files[name]; f != nil {
			d.pkg = strings.TrimSuffix(f.tree.Name.Name, "_test")
		}
		p.moves.files[name] = []destination{d}
	}
	return nil
}

// split moves the files of a folder to the folders of the groups that they belong to.
func (p *plan) split(from string, stems map[string]owner) error {
	names, err := p.tree.Walk(from, func(dir string) bool { return path.Base(dir) != "testdata" })
	if err != nil || len(names) == 0 {
		return err
	}
	owners := map[string]owner{} // file → owner
	groups := map[string]owner{}
	for _, name := range names {
		base := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".go"), "_test")
		if o, ok := stems[base]; ok && path.Dir(name) == from {
			owners[name] = o
			groups[o.dir] = o
		}
	}
	if len(owners) == 0 {
		return nil // the names are there in PROJECT only, or the files elsewhere
	}
	if len(groups) > 1 {
		p.attribute(from, names, owners)
	}
	var findings codegen.Findings
	for _, name := range names {
		f := p.m.files[name]
		targets := groups
		if o, ok := owners[name]; ok {
			targets = map[string]owner{o.dir: o}
		}
		if len(targets) > 1 && f != nil && !f.test() {
			var list []string
			for _, dir := range sorted(targets) {
				list = append(list, targets[dir].group)
			}
			findings = append(findings, codegen.Finding{File: name, Line: 1,
				Message: fmt.Sprintf("belongs to none of the groups %s alone; move it to a package of its own first", strings.Join(list, ", "))})
			continue
		}
		for _, dir := range sorted(targets) {
			if dir == from && len(targets) == 1 && (f == nil || f.outer() || f.tree.Name.Name == targets[dir].pkg) {
				continue
			}
			d := destination{name: path.Join(dir, strings.TrimPrefix(name, from+"/"))}
			if f != nil {
				d.pkg = targets[dir].pkg
			}
			p.moves.files[name] = append(p.moves.files[name], d)
		}
	}
	if len(findings) > 0 {
		return findings
	}
	if len(groups) == 1 {
		for dir := range groups {
			if dir != from {
				p.folders[from] = dir
			}
		}
	}
	return nil
}

// attribute finds the owners of files that their names do not tell: those whose declarations a file uses,
// or whose files use its own.
func (p *plan) attribute(from string, names []string, owners map[string]owner) {
	declared := map[string]string{} // name → file
	for _, name := range names {
		if f := p.m.files[name]; f != nil && f.dir() == from {
			for id := range declarations(f.tree) {
				declared[id] = name
			}
		}
	}
	linked := map[string]map[string]bool{}
	link := func(a, b string) {
		if linked[a] == nil {
			linked[a] = map[string]bool{}
		}
		linked[a][b] = true
	}
	for _, name := range names {
		f := p.m.files[name]
		if f == nil {
			continue
		}
		for id := range f.unresolved {
			if other := declared[id.Name]; other != "" && other != name {
				link(name, other)
				link(other, name)
			}
		}
	}
	for again := true; again; {
		again = false
		for _, name := range names {
			if _, known := owners[name]; known || path.Base(name) == "suite_test.go" {
				continue
			}
			found := map[string]owner{}
			for other := range linked[name] {
				if o, ok := owners[other]; ok {
					found[o.dir] = o
				}
			}
			if len(found) == 1 {
				for _, o := range found {
					owners[name], again = o, true
				}
			}
		}
	}
}

// conflicts refuses a move onto files that are there.
func (p *plan) conflicts(renames []rename) error {
	var paths []string
	leaving := map[string]bool{}
	for name := range p.moves.files {
		leaving[name] = true
	}
	taken := map[string]bool{}
	look := func(to string) {
		if p.tree.Exists(to) && !leaving[to] || taken[to] {
			paths = append(paths, to)
		}
		taken[to] = true
	}
	for _, name := range sorted(p.moves.files) {
		for _, d := range p.moves.files[name] {
			look(d.name)
		}
	}
	for _, r := range renames {
		look(path.Join(r.folder, r.to))
	}
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	return &scaffold.ConflictError{Paths: slices.Compact(paths), Hint: "move away what is listed; files of the project would move there"}
}

// carryOut checks the code, moves it and checks it again.
func (p *plan) carryOut(ctx context.Context, o Options) error {
	libs, err := listLibraries(ctx, p.tree.Root(), o.Env, p.m)
	if err != nil {
		return err
	}
	if findings := check(p.m, libs); len(findings) > 0 {
		return &CodeError{Findings: findings}
	}
	files := rewrite(p.m, p.moves)
	after, err := p.m.with(files)
	if err != nil {
		return fmt.Errorf("the code would not compile after the move: %w", err)
	}
	if findings := check(after, libs); len(findings) > 0 {
		return &CodeError{After: true, Findings: findings}
	}
	for _, name := range sorted(p.moves.files) {
		if p.m.files[name] != nil {
			continue
		}
		data, err := p.tree.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		files[name] = nil
		for _, d := range p.moves.files[name] {
			files[d.name] = data
		}
	}
	put(p.tree, files)
	return nil
}

// CodeError tells that a project's code does not type-check, or would not after the change.
type CodeError struct {
	After    bool
	Findings codegen.Findings
}

func (e *CodeError) Error() string {
	const most = 20
	list := e.Findings
	more := ""
	if len(list) > most {
		more = fmt.Sprintf("\nand %d more", len(list)-most)
		list = list[:most]
	}
	if e.After {
		return "nothing was changed, because the code would not compile after the move; places are those of the moved files:\n" + list.Error() + more +
			"\nwhat several groups share must be exported from a package of its own first"
	}
	return "the project's code does not compile, nothing was changed:\n" + list.Error() + more + "\ncorrect it and run the command again"
}

// Unwrap gives the findings.
func (e *CodeError) Unwrap() error { return e.Findings }

// record writes the new layout into PROJECT's fields.
func (p *plan) record() error {
	if err := p.config.SetMultiGroup(p.multi); err != nil {
		return err
	}
	for _, r := range p.config.Resources() {
		if to := p.paths[r.GVK]; to != "" {
			r.Path = to
			if err := p.config.UpdateResource(r); err != nil {
				return err
			}
		}
	}
	return nil
}
