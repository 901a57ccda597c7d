package typecheck_test

import (
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
				want = firstLines(want)
				got = firstLines(check(t, golden, s.inOwnPackage("github.com/example/memcached-operator")))
			}
			for _, difference := range compare(s.only(got), want, nil) {
				t.Error(difference)
			}
		})
	}
	for position, messages := range got.errors {
		if !strings.HasPrefix(position, "seeds/") {
			t.Errorf("outside of the seeds: %s: %s", position, strings.Join(messages, "; "))
		}
	}
}

// firstLines returns a verdict with the first error of each file. After invalid syntax, parsers continue at different places.
func firstLines(v verdict) verdict {
	first := verdict{errors: map[string][]string{}}
	last := ""
	for _, position := range slices.SortedFunc(maps.Keys(v.errors), byPosition) {
		file, _, _ := strings.Cut(position, ":")
		if file != last {
			first.errors[position] = v.errors[position]
		}
		last = file
	}
	return first
}

// compare returns the differences between the errors of the type checker and those of the compiler. Errors in files that
// the compiler did not get to, as files tell, are not compared.
func compare(got, want verdict, files map[string]bool) []string {
	var all []string
	for position, messages := range want.errors {
		if got.errors[position] == nil {
			all = append(all, fmt.Sprintf("%s: only the compiler: %s", position, strings.Join(messages, "; ")))
		}
	}
	for position, messages := range got.errors {
		file, _, _ := strings.Cut(position, ":")
		if typed, known := files[file]; files != nil && strings.HasSuffix(file, ".go") && !(known && typed) {
			continue
		}
		if want.errors[position] == nil {
			all = append(all, fmt.Sprintf("%s: not the compiler: %s", position, strings.Join(messages, "; ")))
		}
	}
	slices.SortFunc(all, byPosition)
	return all
}

// TestProjects compares with the compiler in other projects: as they are, with all seeds as packages of their own, with
// seeds in existing packages, and with random edits. It compiles the dependencies of the projects, which takes minutes for
// each with an empty build cache.
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
	for _, s := range seeds {
		maps.Copy(files, s.inOwnPackage(module))
	}
	c.compare("seeds", files, nil)
	c.random.Shuffle(len(seeds), func(i, j int) { seeds[i], seeds[j] = seeds[j], seeds[i] })
	for i := range *rounds {
		c.compareRound(fmt.Sprintf("seeds in packages, %d", i+1), clean, func(dir string) (map[string][]byte, string) {
			names := clean.names[dir]
			for len(seeds) > 0 {
				s := seeds[0]
				seeds = seeds[1:]
				if !s.own && !(names[0] == "main" && s.importsSelf()) {
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
	t.Logf("%d packages, %d states compared, %d errors of the compiler, %d differences; compiler %s, type checker %s",
		len(clean.names), c.states, c.errors, c.differences, c.compiling.Round(time.Second), c.checking.Round(time.Second/10))
}

// A comparison compares the verdicts about states of a project.
type comparison struct {
	t                           *testing.T
	project                     string
	work                        *workDir
	random                      *rand.Rand
	states, errors, differences int
	compiling, checking         time.Duration
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
	if err := c.work.reset(); err != nil {
		c.t.Fatal(err)
	}
	start = time.Now()
	got := check(c.t, c.project, files)
	c.checking += time.Since(start)
	differences := compare(got, want, want.files)
	for _, difference := range differences {
		file, _, _ := strings.Cut(difference, ":")
		c.t.Errorf("%s: %s (%s)", name, difference, what[path.Dir(file)])
	}
	c.states++
	c.differences += len(differences)
	c.errors += len(want.errors)
	c.t.Logf("%s: %d errors of the compiler, %d of the type checker, %d differences", name, len(want.errors), len(got.errors), len(differences))
	return want
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
