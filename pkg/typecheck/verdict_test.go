package typecheck_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	update   = flag.Bool("update", false, "compile the seeds in testdata/seeds and record what the compiler says")
	projects = flag.String("typecheck.projects", "", "comma-separated `patterns` of projects in which TestProjects compares with the compiler")
	rounds   = flag.Int("typecheck.rounds", 3, "`number` of rounds of random edits, and of seeds in existing packages, per project")
	cacheDir = flag.String("typecheck.cache", "", "`directory` of the cache of the type checker")
	chance   = flag.Uint64("typecheck.seed", 1, "`seed` of the random choices of TestProjects")
)

const golden = "../../testdata/memcached-operator"

// TestSeeds compares with what the compiler says about each seed. The verdicts of the compiler are recorded, so that
// nothing is compiled. With -update they are recorded anew.
func TestSeeds(t *testing.T) {
	_, err := exec.LookPath("gcc")
	hasC := err == nil
	t.Setenv("CGO_ENABLED", map[bool]string{true: "1", false: "0"}[hasC])
	seeds := slices.DeleteFunc(readSeeds(t), func(s seed) bool { return s.cgo && !hasC })
	valid, all := map[string][]byte{}, map[string][]byte{}
	for _, s := range seeds {
		files := s.inOwnPackage("github.com/example/memcached-operator")
		maps.Copy(all, files)
		if !s.invalid {
			maps.Copy(valid, files)
		}
	}
	if *update {
		work := newWorkDir(t, golden)
		if err := work.write(all); err != nil {
			t.Fatal(err)
		}
		v := compile(t, work.path)
		for _, s := range seeds {
			if err := s.record(v); err != nil {
				t.Fatal(err)
			}
		}
		seeds = readSeeds(t)
	}
	got := check(t, golden, valid)
	for _, s := range seeds {
		t.Run(s.name, func(t *testing.T) {
			want, got := s.want(t), got
			if s.invalid {
				want = byFile(want)
				got = byFile(check(t, golden, s.inOwnPackage("github.com/example/memcached-operator")))
			}
			known := s.differs()
			for _, d := range compare(s.only(got), want) {
				at := strings.TrimPrefix(strings.TrimPrefix(d.position, s.dir()), "/")
				line := fmt.Sprintf("%s: only the %s", cmp.Or(at, "."), d.by)
				if i := slices.Index(known, line); i >= 0 {
					known = slices.Delete(known, i, i+1)
				} else {
					t.Errorf("%s: %s", line, d.message)
				}
			}
			for _, line := range known {
				t.Errorf("no longer differs; remove from %s: %s", s.file, line)
			}
		})
	}
	for position, messages := range got.errors {
		if !strings.HasPrefix(position, "seeds/") {
			t.Errorf("outside of the seeds: %s: %s", position, strings.Join(messages, "; "))
		}
	}
}

// byFile returns a verdict without lines. After invalid syntax, parsers continue at different places.
func byFile(v verdict) verdict {
	files := verdict{errors: map[string][]string{}}
	for position, messages := range v.errors {
		files.errors[fileOf(position)] = messages
	}
	return files
}

// fileOf returns the file of a position.
func fileOf(position string) string {
	file, _, _ := strings.Cut(position, ":")
	return file
}

// A difference is an error that only one side finds.
type difference struct{ position, by, message string }

const (
	compiler = "compiler"
	checker  = "type checker"
)

// compare returns the differences between the errors of the type checker and the compiler's. An error of a package
// without a position stands for any error in its directory and those below. Errors in files that the compiler did not
// get to are not compared.
func compare(got, want verdict) []difference {
	var all []difference
	for position, messages := range want.errors {
		matches := func(other string) bool {
			return other == position || !strings.HasSuffix(fileOf(position), ".go") && strings.HasPrefix(other, position+"/")
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(got.errors)), matches) {
			all = append(all, difference{position, compiler, strings.Join(messages, "; ")})
		}
	}
	for position, messages := range got.errors {
		typed, known := want.files[fileOf(position)]
		if want.errors[position] == nil && (typed || !known) {
			all = append(all, difference{position, checker, strings.Join(messages, "; ")})
		}
	}
	slices.SortFunc(all, func(a, b difference) int { return byPosition(a.position, b.position) })
	return all
}

// TestProjects compares with the compiler in other projects: as they are, with all seeds as packages of their own, with
// seeds in existing packages, and with random edits. It compiles the dependencies of the projects, which takes minutes for
// each with an empty build cache:
//
//	go test ./pkg/typecheck -run TestProjects -v -args -typecheck.projects '../../testdata/*-operator'
func TestProjects(t *testing.T) {
	if *projects == "" {
		t.Skip("no -typecheck.projects")
	}
	t.Setenv("CGO_ENABLED", "1")
	for pattern := range strings.SplitSeq(*projects, ",") {
		dirs, err := filepath.Glob(pattern)
		if err != nil || len(dirs) == 0 {
			t.Fatalf("no directory matches %q", pattern)
		}
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				t.Run(filepath.Base(dir), func(t *testing.T) { compareProject(t, dir) })
			}
		}
	}
}

func compareProject(t *testing.T, project string) {
	c := &comparison{t: t, project: project, work: newWorkDir(t, project), random: rand.New(rand.NewPCG(*chance, 0))}
	clean := c.compare("unchanged", nil, nil)
	module := ""
	for dir, names := range clean.names {
		if m, ok := strings.CutSuffix(names[1], "/"+dir); ok {
			module = m
		}
	}
	files := map[string][]byte{}
	seeds := slices.DeleteFunc(readSeeds(t), func(s seed) bool { return s.invalid })
	c.known = map[string]bool{}
	for _, s := range seeds {
		maps.Copy(files, s.inOwnPackage(module))
		c.know(s, s.dir())
	}
	c.compare(ownPackages, files, nil)
	c.random.Shuffle(len(seeds), func(i, j int) { seeds[i], seeds[j] = seeds[j], seeds[i] })
	for i := range *rounds {
		c.compareRound(fmt.Sprintf("seeds in packages, %d", i+1), clean, func(dir string) (map[string][]byte, string) {
			names := clean.names[dir]
			for len(seeds) > 0 {
				s := seeds[0]
				seeds = seeds[1:]
				if !s.own && !(names[0] == "main" && s.importsSelf()) {
					c.know(s, dir)
					return s.in(dir, names[0], names[1]), s.name
				}
			}
			return nil, ""
		})
	}
	for i := range *rounds {
		c.compareRound(fmt.Sprintf("edits, %d", i+1), clean, func(dir string) (map[string][]byte, string) {
			files := map[string][]byte{}
			var what []string
			names := slices.Sorted(maps.Keys(clean.files))
			names = slices.DeleteFunc(names, func(name string) bool { return path.Dir(name) != dir })
			c.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			for _, name := range names[:min(2, len(names))] {
				if data, description := edit(t, c.random, filepath.Join(project, name)); data != nil {
					files[name] = data
					what = append(what, description)
				}
			}
			return files, strings.Join(what, "; ")
		})
	}
	t.Logf("%d packages, %d states compared, %d lines with errors of the compiler, %d on another line, %d differences; compiler %s, type checker %s",
		len(clean.names), c.states, c.errors, c.moved, c.differences, c.compiling.Round(time.Second), c.checking.Round(time.Second/10))
}

// ownPackages is the name of the state of a project with all seeds as packages of their own.
const ownPackages = "seeds"

// A comparison compares the verdicts about states of a project.
type comparison struct {
	t                                  *testing.T
	project                            string
	work                               *workDir
	random                             *rand.Rand
	known                              map[string]bool // the known differences of the seeds
	states, errors, differences, moved int
	compiling, checking                time.Duration
}

// compare compares the verdicts about the project with changed files. what describes the changes in a directory. It returns
// what the compiler says.
func (c *comparison) compare(name string, files map[string][]byte, what map[string]string) verdict {
	c.t.Helper()
	if err := c.work.write(files); err != nil {
		c.t.Fatal(err)
	}
	start := time.Now()
	want := compile(c.t, c.work.path)
	c.compiling += time.Since(start)
	start = time.Now()
	got := check(c.t, c.project, files)
	if name == ownPackages {
		got = check(c.t, c.work.path, nil) // cgo needs the directories
	}
	c.checking += time.Since(start)
	if err := c.work.reset(); err != nil {
		c.t.Fatal(err)
	}
	for position := range got.errors {
		if _, listed := want.files[fileOf(position)]; !listed && strings.HasSuffix(fileOf(position), ".go") {
			delete(got.errors, position) // of another module below the project
		}
	}
	differences, moved := pair(slices.DeleteFunc(compare(got, want), func(d difference) bool {
		return c.known[d.position+": only the "+d.by]
	}))
	for _, d := range differences {
		c.t.Errorf("%s: %s: only the %s: %s (%s)", name, d.position, d.by, d.message, what[path.Dir(fileOf(d.position))])
	}
	for _, d := range moved {
		c.t.Logf("%s: %s: on another line: %s", name, d.position, d.message)
	}
	c.moved += len(moved)
	c.states++
	c.differences += len(differences)
	c.errors += len(want.errors)
	c.t.Logf("%s: %d lines with errors of the compiler, %d of the type checker, %d differences", name, len(want.errors), len(got.errors), len(differences))
	return want
}

// know adds the known differences of a seed in a directory.
func (c *comparison) know(s seed, dir string) {
	for _, line := range s.differs() {
		c.known[strings.Replace(path.Join(dir, line), "/.:", ":", 1)] = true
	}
}

// pair takes out pairs of differences that are the same error on two lines of a statement.
func pair(all []difference) (rest, moved []difference) {
	for _, d := range all {
		i := slices.IndexFunc(rest, func(other difference) bool {
			return d.by != other.by && fileOf(d.position) == fileOf(other.position) && firstWords(d.message) == firstWords(other.message)
		})
		if i < 0 {
			rest = append(rest, d)
			continue
		}
		rest = slices.Delete(rest, i, i+1)
		moved = append(moved, d)
	}
	return rest, moved
}

// firstWords returns the start of a message, which doesn't depend on how expressions are printed.
func firstWords(message string) string {
	return strings.Join(strings.Fields(message)[:min(3, len(strings.Fields(message)))], " ")
}

// compareRound changes packages none of which imports another one, so that the compiler gets to all of them.
func (c *comparison) compareRound(name string, clean verdict, change func(dir string) (map[string][]byte, string)) {
	closure := clean.closure()
	dirs := slices.Sorted(maps.Keys(clean.names))
	c.random.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
	files, what := map[string][]byte{}, map[string]string{}
	var chosen []string
	for _, dir := range dirs {
		if slices.ContainsFunc(chosen, func(other string) bool { return closure[dir][other] || closure[other][dir] }) {
			continue
		}
		changed, description := change(dir)
		if len(changed) == 0 {
			continue
		}
		chosen = append(chosen, dir)
		maps.Copy(files, changed)
		what[dir] = description
	}
	if len(files) > 0 {
		c.compare(name, files, what)
	}
}
