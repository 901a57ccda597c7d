package codegen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/applyconfiguration"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// CurrentYear stands for the year in a value of year= that a project takes from the clock. Generate replaces it by
// Options.Year, else by the year that the header has in the project's files, else it leaves the year out.
const CurrentYear = "CURRENT-YEAR"

// A Call is a call of controller-gen.
type Call struct {
	// Dir is the directory of the call, slash-separated and relative to Options.Root; empty for the root itself.
	Dir string
	// Args are the arguments of controller-gen.
	Args []string
	// Source is the place that the call was found at, such as Makefile:12. Empty for the default.
	Source string
}

// DefaultCalls returns the calls of a scaffolded project.
func DefaultCalls() []Call {
	return []Call{
		{Args: []string{"rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"}},
		{Args: []string{"object:headerFile=hack/boilerplate.go.txt", "paths=./..."}},
	}
}

// Generators returns the generators that the call runs, or an error if controller-gen would refuse the arguments.
func (c Call) Generators() (Generators, error) {
	tasks, err := c.tasks()
	var all Generators
	for _, t := range tasks {
		all |= t.kind
	}
	return all, err
}

// task is one generator of a call.
type task struct {
	call      Call
	name      string
	kind      Generators
	generator genall.Generator
	paths     []string
	// config is the directory of manifests and code that of Go files, relative to the root; code is empty where Go files
	// belong beside their package.
	config, code string
	discarded    bool
	packages     []*pkg // the roots, in the order in which the loader returns them
	header       []byte
	key          []byte
}

// generatorKinds maps the names of generators to their bits.
func generatorKinds() map[string]Generators {
	return map[string]Generators{"object": Object, "crd": CRD, "rbac": RBAC, "webhook": Webhook, "schemapatch": schemaPatches, "applyconfiguration": ApplyConfiguration}
}

// tasks parses the arguments of a call as controller-gen does.
func (c Call) tasks() ([]*task, error) {
	registry, err := optionsRegistry()
	if err != nil {
		return nil, err
	}
	var tasks []*task
	var paths []string
	var common genall.OutputRule
	own := map[string]genall.OutputRule{}
	for _, arg := range c.Args {
		text := "+" + strings.TrimPrefix(modernOption(arg), "+")
		def := registry.Lookup(text, markers.DescribesPackage)
		if def == nil {
			return nil, c.errorf("unknown option %q", arg)
		}
		value, err := def.Parse(text)
		if err != nil {
			if list, ok := errors.AsType[loader.ErrList](err); ok && len(list) > 0 {
				err = list[0] // after the first one the parser has lost its way
			}
			return nil, c.errorf("option %q: %s", arg, scannedAt.ReplaceAllString(err.Error(), ""))
		}
		switch value := value.(type) {
		case genall.Generator:
			tasks = append(tasks, &task{call: c, name: def.Name, kind: generatorKinds()[def.Name], generator: value})
		case genall.InputPaths:
			paths = append(paths, value...)
		case genall.OutputRule:
			if parts := strings.SplitN(def.Name, ":", 3); len(parts) == 3 {
				own[parts[1]] = value
			} else {
				common = value
			}
		}
	}
	for _, t := range tasks {
		t.paths = paths
		rule := own[t.name]
		switch {
		case rule == nil && common == nil:
			rule = genall.OutputArtifacts{Config: genall.OutputToDirectory(path.Join("config", t.name))}
		case rule == nil:
			rule = common
		}
		t.output(rule)
	}
	return tasks, nil
}

func (c Call) errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if c.Source == "" {
		return err
	}
	return Findings{{File: c.Source, Message: err.Error()}}
}

var (
	trivialVersions       = regexp.MustCompile(`([:,]) *trivialVersions(=\w+)?(,|$)`)
	preserveUnknownFields = regexp.MustCompile(`([:,]) *preserveUnknownFields=`)
)

// modernOption translates the options of CRDs that controller-gen had before version 0.9: trivialVersions has no meaning
// for the present API version of CRDs, and preserveUnknownFields was renamed.
func modernOption(arg string) string {
	if !strings.HasPrefix(arg, "crd:") {
		return arg
	}
	arg = trivialVersions.ReplaceAllString(arg, "$1")
	arg = preserveUnknownFields.ReplaceAllString(arg, "${1}deprecatedV1beta1CompatibilityPreserveUnknownFields=")
	return strings.TrimRight(arg, ":,")
}

// output sets where the files go.
func (t *task) output(rule genall.OutputRule) {
	below := func(dir genall.OutputToDirectory) string { return t.call.below(string(dir)) }
	switch rule := rule.(type) {
	case genall.OutputToDirectory:
		t.config, t.code = below(rule), below(rule)
	case genall.OutputArtifacts:
		t.config = below(rule.Config)
		if rule.Code != "" {
			t.code = below(rule.Code)
		}
	default:
		t.discarded = true // to the standard output, or nowhere
	}
}

// below returns a path of the call relative to the root.
func (c Call) below(name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return path.Clean(filepath.ToSlash(name))
	}
	return path.Join(c.Dir, filepath.ToSlash(name))
}

// relative returns a path relative to the root, where it may be absolute.
func (g *generation) relative(name string) string {
	if rel, err := filepath.Rel(g.opts.Root, filepath.FromSlash(name)); filepath.IsAbs(filepath.FromSlash(name)) && err == nil {
		return filepath.ToSlash(rel)
	}
	return name
}

// tasks returns those of all calls that the options select, with their packages and headers.
func (g *generation) tasks() ([]*task, Findings, error) {
	var all []*task
	var warnings Findings
	for _, call := range g.opts.Calls {
		tasks, err := call.tasks()
		if err != nil {
			return nil, nil, err
		}
		for _, t := range tasks {
			if t.kind&g.opts.Generators == 0 || t.discarded {
				continue
			}
			if name, ok := g.outside(t); ok {
				warnings = append(warnings, Finding{File: call.Source, Message: fmt.Sprintf("%s: not generated: directory %s is outside of the project", t.name, name)})
				continue
			}
			warnings = append(warnings, g.find(t)...)
			found, err := g.prepare(t)
			if err != nil {
				return nil, nil, err
			}
			warnings = append(warnings, found...)
			all = append(all, t)
		}
	}
	return all, warnings, nil
}

// outside reports whether a task writes outside of the project, and where.
func (g *generation) outside(t *task) (string, bool) {
	for _, dir := range []*string{&t.config, &t.code} {
		if *dir = g.relative(*dir); *dir == ".." || strings.HasPrefix(*dir, "../") {
			return *dir, true
		}
	}
	return "", false
}

// find sets the packages that the paths of a task select, in the order of the loader: import paths first.
func (g *generation) find(t *task) Findings {
	var warnings Findings
	paths := slices.Clone(t.paths)
	if len(paths) == 0 {
		paths = []string{"."}
	}
	isFile := func(p string) bool { return strings.HasPrefix(p, ".") || filepath.IsAbs(filepath.FromSlash(p)) }
	slices.SortStableFunc(paths, func(a, b string) int {
		if isFile(a) == isFile(b) {
			return 0
		} else if isFile(b) {
			return -1
		}
		return 1
	})
	for _, given := range paths {
		of := func(p *pkg) string { return p.path }
		pattern := strings.TrimPrefix(given, "./")
		if isFile(given) {
			of = func(p *pkg) string { return p.dir }
			pattern = g.relative(t.call.below(given))
		}
		prefix, tree := strings.CutSuffix("/"+pattern, "/...")
		prefix = strings.TrimPrefix(prefix, "/")
		matched := false
		for _, p := range g.project.packages {
			name := of(p)
			if tree && (prefix == "" || name == prefix || strings.HasPrefix(name, prefix+"/")) || name == pattern {
				matched = true
				if !slices.Contains(t.packages, p) {
					t.packages = append(t.packages, p)
				}
			}
		}
		if !matched && given != "./..." {
			warnings = append(warnings, Finding{File: t.call.Source, Message: fmt.Sprintf("%s: paths=%s matches no package of the project", t.name, given)})
		}
	}
	return warnings
}

// names returns the import paths of the packages of a task.
func (t *task) names() []string {
	names := make([]string, len(t.packages))
	for i, p := range t.packages {
		names[i] = p.path
	}
	return names
}

// prepare reads the header of a task and replaces the year in it, so that the generator has nothing left to look up.
func (g *generation) prepare(t *task) (warnings Findings, err error) {
	var year string
	set := func(file, of *string) {
		name := *file
		year = *of
		*of = ""
		if name == "" {
			return
		}
		name = g.relative(t.call.below(name))
		var data []byte
		data, err = g.project.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			if *file, err = "", nil; t.call.Source != "" {
				warnings = append(warnings, Finding{File: t.call.Source, Message: fmt.Sprintf("header file %s not found; %s is generated without a header", name, t.name)})
			}
			return
		} else if err != nil {
			err = fmt.Errorf("reading %s: %w", name, reason(err))
			return
		}
		t.header = data
	}
	switch generator := t.generator.(type) {
	case deepcopy.Generator:
		set(&generator.HeaderFile, &generator.Year)
		// A byte order mark is none in the middle of a file.
		t.header = bytes.TrimPrefix(t.header, []byte("\uFEFF"))
		t.generator = generator
	case crd.Generator:
		set(&generator.HeaderFile, &generator.Year)
		t.generator = generator
	case rbac.Generator:
		set(&generator.HeaderFile, &generator.Year)
		t.generator = generator
	case webhook.Generator:
		set(&generator.HeaderFile, &generator.Year)
		t.generator = generator
	case applyconfiguration.Generator:
		current := CurrentYear // which it writes for YEAR
		set(&generator.HeaderFile, &current)
		t.generator = generator
	case schemapatcher.Generator:
		generator.ManifestsPath = g.project.abs(t.call.below(generator.ManifestsPath))
		t.generator = generator
	}
	if err != nil {
		return nil, err
	}
	if year == CurrentYear {
		if year = g.currentYear(t); year == "" {
			t.header = bytes.ReplaceAll(t.header, []byte(" YEAR"), nil)
		}
	}
	t.header = bytes.ReplaceAll(t.header, []byte(" YEAR"), []byte(" "+year))
	options, err := json.Marshal(t.generator)
	if err != nil {
		return nil, err
	}
	t.key = fmt.Appendf(nil, "%s %s %q %q %s", t.name, options, t.config, t.code, t.header)
	if patcher, ok := t.generator.(schemapatcher.Generator); ok {
		sum := g.files(patcher.ManifestsPath)
		t.key = append(t.key, sum[:]...)
	}
	return warnings, nil
}

// files returns the digest of the files in a directory.
func (g *generation) files(dir string) digest {
	var parts [][]byte
	if rel, err := filepath.Rel(g.opts.Root, dir); err == nil {
		names, _ := g.project.list(filepath.ToSlash(rel))
		for _, name := range names {
			data, _ := g.project.read(path.Join(filepath.ToSlash(rel), name))
			parts = append(parts, []byte(name), data)
		}
	}
	return digestOf(parts...)
}

// currentYear returns Options.Year, or the latest year that the header of a task has in a file of the project, or nothing.
func (g *generation) currentYear(t *task) string {
	before, after, ok := strings.Cut(strings.TrimSpace(string(t.header)), " YEAR")
	if g.opts.Year != "" || !ok {
		return g.opts.Year
	}
	after, _, _ = strings.Cut(after, " YEAR")
	written := regexp.MustCompile(regexp.QuoteMeta(before) + ` (\d{4})` + regexp.QuoteMeta(after))
	latest := ""
	search := func(data []byte) {
		if m := written.FindSubmatch(data); m != nil {
			latest = max(latest, string(m[1]))
		}
	}
	generated := []string{path.Join(t.config, "role.yaml"), path.Join(t.config, "manifests.yaml")}
	for _, p := range t.packages {
		generated = append(generated, path.Join(p.dir, "zz_generated.deepcopy.go"))
	}
	if names, err := g.project.list(t.config); err == nil && t.kind == CRD {
		for _, name := range names {
			generated = append(generated, path.Join(t.config, name))
		}
	}
	for _, name := range generated {
		if data, err := g.project.read(name); err == nil {
			search(data)
		}
	}
	if latest != "" {
		return latest
	}
	for _, p := range g.project.packages {
		for _, file := range p.files {
			search(file.content)
		}
	}
	return latest
}

// selected returns the packages of all tasks, in the project's order.
func (g *generation) selected() []*pkg {
	wanted := map[*pkg]bool{}
	for _, t := range g.all {
		for _, p := range t.packages {
			wanted[p] = true
		}
	}
	if len(wanted) == len(g.project.packages) {
		return g.project.packages
	}
	return slices.DeleteFunc(slices.Clone(g.project.packages), func(p *pkg) bool { return !wanted[p] })
}

// rootsOf returns the packages of a task with their syntax.
func (s *syntax) rootsOf(t *task) []*parsed {
	var roots []*parsed
	for _, p := range t.packages {
		if one := s.byPath[p.path]; one != nil && one.dir == p.dir {
			roots = append(roots, one)
		}
	}
	return roots
}

// CRDDirs returns the directories that calls write CRDs to, slash-separated and relative to the root of the project. Nil stands
// for DefaultCalls.
func CRDDirs(calls []Call) ([]string, error) {
	if calls == nil {
		calls = DefaultCalls()
	}
	var dirs []string
	for _, call := range calls {
		tasks, err := call.tasks()
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			if t.kind == CRD && !t.discarded && !slices.Contains(dirs, t.config) {
				dirs = append(dirs, t.config)
			}
		}
	}
	return dirs, nil
}

// Header returns the text that new Go files of the project start with, and the file that it comes from, slash-separated and
// relative to opts.Root: the header of the deepcopy methods. YEAR in it becomes the year of the call, or else the current one.
// The file is empty where the calls name none that exists.
func Header(opts Options) (text, file string, err error) {
	if opts.Calls == nil {
		opts.Calls = DefaultCalls()
	}
	g := &generation{opts: opts, project: &project{root: opts.Root, overlay: opts.Overlay}}
	for _, call := range opts.Calls {
		tasks, err := call.tasks()
		if err != nil {
			return "", "", err
		}
		for _, t := range tasks {
			generator, ok := t.generator.(deepcopy.Generator)
			if !ok || generator.HeaderFile == "" {
				continue
			}
			if generator.Year == "" {
				generator.Year = CurrentYear
			}
			t.generator = generator
			name := g.relative(call.below(generator.HeaderFile))
			if data, _ := g.project.read(name); bytes.Contains(data, []byte(" YEAR")) {
				if g, err = newGeneration(opts); err != nil {
					return "", "", err
				}
				g.find(t)
			}
			if missing, err := g.prepare(t); err != nil || len(missing) == 0 {
				return string(t.header), name, err
			}
		}
	}
	return "", "", nil
}
