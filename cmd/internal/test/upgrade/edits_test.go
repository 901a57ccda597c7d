//go:build unix

package upgrade

import (
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/manifest"
)

var (
	editsSeed     = flag.Uint64("edits.seed", 1, "first seed of TestRandomEdits")
	editsCount    = flag.Int("edits.count", 1, "number of seeds of TestRandomEdits")
	editsPerSeed  = flag.Int("edits.edits", 6, "number of edits per seed of TestRandomEdits")
	editsProjects = flag.String("edits.projects", "", "`directory` of projects for TestRandomEdits, in place of its own")
)

// TestRandomEdits edits projects at random and upgrades them. The upgrade of the unedited project is the reference: an
// upgrade adds and removes no line of a file and no field of a built object that the reference does not add or remove as
// well, so that whatever a user changed, moved, removed, renamed or commented out stays so. In addition, each
// kustomization that could be built can be built, both sides of a conflict parse, packages compile, and a second upgrade
// changes nothing. A failure prints the fewest edits found that fail.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it upgrades dozens of projects")
	for name, makeProject := range editableProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := makeProject(t)
			project := &editedProject{name: filepath.Base(dir), files: clitest.ReadTree(t, dir)}
			reference := project.upgrade(t)
			if len(reference.problems) > 0 {
				t.Fatalf("without edits, the upgrade\n  %s", strings.Join(reference.problems, "\n  "))
			}
			for seed := *editsSeed; seed < *editsSeed+uint64(*editsCount); seed++ {
				edits := drawEdits(seed, *editsPerSeed)
				done, problems := project.check(t, reference, edits)
				for i := len(edits) - 1; i >= 0 && len(problems) > 0; i-- {
					fewer := slices.Delete(slices.Clone(edits), i, i+1)
					if d, p := project.check(t, reference, fewer); len(p) > 0 {
						edits, done, problems = fewer, d, p
					}
				}
				if n := len(problems); n > 0 {
					problems = problems[:min(n, 20)]
					t.Errorf("-edits.seed %d: after these edits:\n  %s\nthe upgrade does this, and %d more:\n  %s", seed, strings.Join(done, "\n  "), n-len(problems), strings.Join(problems, "\n  "))
				}
			}
		})
	}
}

// editableProjects returns functions that create projects of older releases, of peers, and of the current scaffold, or
// copy the projects of -edits.projects.
func editableProjects(t *testing.T) map[string]func(*testing.T) string {
	t.Helper()
	projects := map[string]func(*testing.T) string{}
	if *editsProjects != "" {
		dirs, err := filepath.Glob(filepath.Join(*editsProjects, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			projects[filepath.Base(dir)] = func(t *testing.T) string { return clitest.CopyTree(t, dir) }
		}
		return projects
	}
	for _, p := range oldProjects() {
		projects["operator-sdk-"+p.sdk] = p.unpack
	}
	for _, name := range clitest.GoldenProjects(t) {
		projects[name] = func(t *testing.T) string { return clitest.CopyGolden(t, name) }
	}
	for _, layout := range []string{"v2", "v3"} {
		projects["kubebuilder-3.15-"+layout] = func(t *testing.T) string {
			return oldProject(t, "go/"+layout,
				"create api --group cache --version v1 --kind Memcached --resource --controller --make=false",
				"create api --group cache --version v1 --kind Redis --resource --controller --make=false")
		}
	}
	for version, peer := range map[string]string{"4.6": "peers/operator-sdk-1.42", "4.16": "bench/peers"} {
		projects["kubebuilder-"+version] = func(t *testing.T) string {
			program := clitest.BuildPeer(t, peer, "sigs.k8s.io/kubebuilder/v4")
			dir := filepath.Join(t.TempDir(), "walk")
			clitest.WriteFiles(t, dir, map[string]string{".gitignore": ""})
			for _, command := range []string{
				"init --domain example.com --repo example.com/walk --project-name walk --fetch-deps=false --skip-go-version-check",
				"create api --group cache --version v1 --kind Memcached --resource --controller --make=false",
				"create webhook --group cache --version v1 --kind Memcached --defaulting --programmatic-validation --make=false",
				"create api --group cache --version v1 --kind Redis --resource --controller --make=false",
				"create webhook --group cache --version v1 --kind Redis --defaulting --programmatic-validation --make=false",
			} {
				clitest.RunPeer(t, program, dir, strings.Fields(command)...)
			}
			return dir
		}
	}
	return projects
}

// fact is a line of a file, or a field in the output of a kustomization.
type fact struct{ source, text string }

func (f fact) String() string { return f.source + ": " + f.text }

// split returns kind, name and field of the object in the output of a kustomization.
func (f fact) split() (kind, name, field string) {
	id, field, _ := strings.Cut(f.text, ": ")
	kind, name, _ = strings.Cut(id, " ")
	return kind, name, field
}

// upgraded is the result of an upgrade.
type upgraded struct {
	files map[string]string
	// built are the kustomizations that could be built before and after the upgrade.
	built map[string]bool
	// removed and added count the facts that the upgrade removed and added.
	removed, added map[fact]int
	// problems are the invariants that the upgrade violates, worded as what it does.
	problems []string
}

// count returns how often a fact counts, in another kustomization if the edits made this one contain that one.
func (u *upgraded) count(counts map[fact]int, f fact) int {
	n := counts[f]
	if !u.built[f.source] {
		return n
	}
	kind, name, field := f.split()
	for other, m := range counts {
		k, unprefixed, of := other.split()
		if u.built[other.source] && k == kind && of == field && strings.HasSuffix(name, "-"+unprefixed) {
			n = max(n, m)
		}
	}
	return n
}

// hasObject reports whether counts hold all of an object, whose fields differ after edits.
func (u *upgraded) hasObject(counts map[fact]int, f fact) bool {
	kind, name, _ := f.split()
	return u.count(counts, fact{f.source, kind + " " + name + ": .kind=" + kind}) > 0
}

// removesItem reports whether an upgrade removes a list item of a manifest, which others may have as well.
func (u *upgraded) removesItem(name, line string) bool {
	item, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
	for f := range u.removed {
		if ok && f.source == moved(name) && strings.HasSuffix(f.text, "[]="+item) {
			return true
		}
	}
	return false
}

// check edits the project, upgrades it, and returns the edits made and the invariants violated.
func (p *editedProject) check(t *testing.T, reference *upgraded, edits []edit) (done, problems []string) {
	t.Helper()
	edited := &editedProject{name: p.name, files: maps.Clone(p.files)}
	for _, e := range edits {
		edited.apply(e)
	}
	result := edited.upgrade(t)
	problems = result.problems
	exceeds := func(n int, counts map[fact]int, f fact) bool {
		return n > reference.count(counts, f) && result.built[f.source] == reference.built[f.source]
	}
	added := map[string][]fact{} // by text
	for f, n := range result.added {
		if exceeds(n, reference.added, f) && !reference.hasObject(reference.added, f) {
			added[f.text] = append(added[f.text], f)
		}
	}
	for f, n := range result.removed {
		if !exceeds(n, reference.removed, f) {
			continue
		}
		_, exists := result.files[f.source]
		if followed := added[f.text]; len(followed) > 0 && !exists && !result.built[f.source] {
			added[f.text] = followed[1:] // with its object to another file
		} else if !reference.hasObject(reference.removed, f) {
			problems = append(problems, "removes "+f.String())
		}
	}
	for _, facts := range added {
		for _, f := range facts {
			problems = append(problems, "adds "+f.String())
		}
	}
	for name := range p.files {
		_, kept := edited.files[name]
		if _, exists := result.files[moved(name)]; exists && !kept {
			problems = append(problems, "restores "+name)
		}
	}
	for _, o := range edited.ordered {
		text := ourSide(result.files[moved(o.file)])
		first, second := lineIndex(text, o.first), lineIndex(text, o.second)
		mine := edited.files[o.file]
		if first > second && second >= 0 && lineIndex(mine, o.first) < lineIndex(mine, o.second) && !reference.removesItem(o.file, o.first) {
			problems = append(problems, fmt.Sprintf("reorders %q and %q in %s", o.first, o.second, o.file))
		}
	}
	for _, name := range edited.crlf {
		if text := strings.ReplaceAll(ourSide(result.files[moved(name)]), "\r\n", ""); strings.Contains(text, "\n") {
			problems = append(problems, "mixes the line ends of "+name)
		}
	}
	slices.Sort(problems)
	return edited.done, problems
}

// upgrade writes the project to a new directory and upgrades it there, twice.
func (p *editedProject) upgrade(t *testing.T) *upgraded {
	t.Helper()
	u := &upgraded{built: map[string]bool{}, removed: map[fact]int{}, added: map[fact]int{}}
	before := filepath.Join(t.TempDir(), p.name)
	clitest.WriteFiles(t, before, p.files)
	built := buildAll(t, before)
	dir := clitest.CopyTree(t, before)
	conflicts := u.run(t, dir)
	u.files = clitest.ReadTree(t, dir)
	if len(u.problems) > 0 {
		return u
	}
	if len(conflicts) > 0 {
		for _, side := range []string{"ours", "theirs"} {
			if left := u.run(t, clitest.CopyTree(t, before), "--conflict", side); len(left) > 0 {
				u.problems = append(u.problems, fmt.Sprintf("leaves conflicts in %q with --conflict %s", left, side))
			}
		}
	}
	for _, name := range conflicts {
		for _, text := range []string{ourSide(u.files[name]), theirSide(u.files[name])} {
			if err := parse(t, name, text); err != nil {
				u.problems = append(u.problems, fmt.Sprintf("writes a conflict in %s of which a side does not parse: %v", name, err))
			}
		}
	}
	for _, name := range conflicts {
		clitest.WriteFile(t, filepath.Join(dir, name), ourSide(u.files[name]))
	}
	rebuilt := buildAll(t, dir)
	for kustomization := range built {
		_, exists := u.files[kustomization+"/kustomization.yaml"]
		_, u.built[kustomization] = rebuilt[kustomization]
		if exists && !u.built[kustomization] {
			u.problems = append(u.problems, "breaks the kustomization "+kustomization)
		}
	}
	if p.code && len(conflicts) == 0 {
		if out, err := clitest.GoCommand(dir, "vet", "-tags=e2e", "./...").CombinedOutput(); err != nil {
			u.problems = append(u.problems, "breaks a package: "+string(out))
		}
	}
	old, current := u.facts(p.files, built), u.facts(u.files, rebuilt)
	for f, n := range old {
		if lost := n - current[f]; lost > 0 {
			u.removed[f] = lost
		}
	}
	for f, n := range current {
		if more := n - old[f]; more > 0 {
			u.added[f] = more
		}
	}
	return u
}

// run upgrades the project in a directory twice and returns the files with conflicts.
func (u *upgraded) run(t *testing.T, dir string, args ...string) (conflicts []string) {
	t.Helper()
	args = append([]string{"upgrade"}, args...)
	code, _, errOut := clitest.Run(t, dir, "", args...)
	once := clitest.ReadTree(t, dir)
	for name, text := range once {
		if marked.MatchString(text) {
			conflicts = append(conflicts, name)
		}
	}
	if (code == 0) != (len(conflicts) == 0) {
		u.problems = append(u.problems, fmt.Sprintf("exits with %d and %d conflicts: %s", code, len(conflicts), errOut))
	}
	if again, _, errOut := clitest.Run(t, dir, "", args...); again != code {
		u.problems = append(u.problems, fmt.Sprintf("exits with %d the second time: %s", again, errOut))
	}
	for _, name := range differing(once, clitest.ReadTree(t, dir)) {
		u.problems = append(u.problems, "changes "+name+" the second time")
	}
	return conflicts
}

// marked matches a file with conflict markers.
var marked = regexp.MustCompile(`(?m)^<<<<<<< `)

var conflict = regexp.MustCompile(`(?ms)^<<<<<<< [^\n]*\n(.*?)^=======\r?\n(.*?)^>>>>>>> [^\n]*\n`)

func ourSide(text string) string   { return conflict.ReplaceAllString(text, "$1") }
func theirSide(text string) string { return conflict.ReplaceAllString(text, "$2") }

// parse reports why a text is not valid as the content of a file.
func parse(t *testing.T, name, text string) error {
	switch {
	case path.Ext(name) == ".go":
		_, err := format.Source([]byte(text))
		return err
	case path.Ext(name) == ".yaml" || name == "PROJECT":
		return parseYAML(text)
	case name == "Makefile":
		dir := clitest.NewDir(t, map[string]string{name: text})
		if out, err := exec.Command("make", "-n", "-C", dir, "help").CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	return nil
}

// parseYAML reports why a text is not a stream of YAML documents.
func parseYAML(text string) error {
	for document := range strings.SplitSeq("\n"+strings.ReplaceAll(text, "\r\n", "\n"), "\n---") {
		if err := yaml.Unmarshal([]byte(document), new(any)); err != nil {
			return err
		}
	}
	return nil
}

// buildAll builds the kustomizations below a directory and returns the output of those that can be built.
func buildAll(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	built := map[string][]byte{}
	for name := range clitest.ReadTree(t, dir) {
		if path.Base(name) != "kustomization.yaml" {
			continue
		}
		if out, err := manifest.Build(dir, path.Dir(name)); err == nil {
			built[path.Dir(name)] = out
		}
	}
	return built
}

// facts counts the lines of files, without space and with the layout and names of the reference, and the fields of objects,
// which are in manifests or which kustomizations build before and after the upgrade. What generators write does not count.
func (u *upgraded) facts(files map[string]string, built map[string][]byte) map[fact]int {
	counts := map[fact]int{}
	for name, text := range files {
		if isGenerated(name) {
			continue
		}
		source := unmark(moved(name))
		hasObjects := isManifest(name) && path.Base(name) != "kustomization.yaml"
		if hasObjects {
			u.countObjects(counts, source, ourSide(text))
		}
		for line := range strings.Lines(ourSide(text)) {
			line = strings.Join(strings.Fields(line), " ")
			if hasObjects && !strings.HasPrefix(line, "#") {
				continue
			}
			if path.Base(name) == "kustomization.yaml" {
				line = strings.Replace(line, "- path: ", "- ", 1) // the current lists have another form
			}
			line = movedPaths.Replace(line) // also in comments
			if path.Base(name) == "main.go" {
				line = strings.Replace(line, `"metrics-secure", false,`, `"metrics-secure", true,`, 1) // as a proxy that stays needs it
			}
			line = goImage.ReplaceAllString(line, "${1}")      // follows go.mod
			line = accountConst.ReplaceAllString(line, "${1}") // follows the Deployment, which may be in a renamed file
			if !followed.MatchString(line) {
				f := fact{source, unmark(line)}
				counts[f]++
				if strings.HasPrefix(line, "#") {
					counts[f] = 1 // other comments that both have may hold the same line
				}
			}
		}
	}
	for kustomization, out := range built {
		if !u.built[kustomization] {
			continue
		}
		u.countObjects(counts, kustomization, string(out))
	}
	return counts
}

// countObjects counts the fields of the objects in a stream, apart from generated ones.
func (u *upgraded) countObjects(counts map[fact]int, source, stream string) {
	for document := range strings.SplitSeq("\n"+strings.ReplaceAll(stream, "\r\n", "\n"), "\n---\n") {
		var value any
		if err := yaml.Unmarshal([]byte(document), &value); err != nil {
			u.problems = append(u.problems, fmt.Sprintf("makes an object of %s that does not parse: %v", source, err))
			continue
		}
		object, _ := value.(map[string]any) // a JSON patch is a list
		metadata, _ := object["metadata"].(map[string]any)
		id := fmt.Sprintf("%v %v: ", object["kind"], metadata["name"])
		if !generatedObject.MatchString(id) {
			countFields(counts, source, id, value)
		}
	}
}

var movedPaths = strings.NewReplacer(" main.go", " cmd/main.go", " controllers/", " internal/controller/")

var goImage = regexp.MustCompile(`^(FROM golang:)[0-9.]+`)

var accountConst = regexp.MustCompile(`^(serviceAccountName = )"[^"]*"$`)

// followed matches lines that depend on others: they end a block, or call for a newer controller-runtime what an edited
// program calls for an older one.
var followed = regexp.MustCompile(`^(|else|endif|fi|[})]+,?|(Metrics|WebhookServer): .*Options\{.*)$`)

// isGenerated reports whether the go command or a generator writes a file.
func isGenerated(name string) bool {
	switch path.Base(name) {
	case "go.mod", "go.sum", "zz_generated.deepcopy.go":
		return true
	}
	return strings.HasPrefix(name, "config/crd/bases/") || name == "config/rbac/role.yaml" || name == "config/webhook/manifests.yaml"
}

var generatedObject = regexp.MustCompile(`^(CustomResourceDefinition |\w+WebhookConfiguration |ClusterRole .*manager-role: )`)

// countFields counts the scalars in a value below a path. Items of lists are distinguished by their names, rules of roles by
// their resources.
func countFields(counts map[fact]int, source, at string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			countFields(counts, source, at+"."+key, v)
		}
	case []any:
		for _, v := range value {
			name := ""
			if m, ok := v.(map[string]any); ok {
				for _, key := range []string{"name", "resources"} {
					if name == "" && m[key] != nil {
						name = fmt.Sprint(m[key])
					}
				}
			}
			countFields(counts, source, at+"["+name+"]", v)
		}
	default:
		counts[fact{source, unmark(fmt.Sprintf("%s=%v", at, value))}]++
	}
}
