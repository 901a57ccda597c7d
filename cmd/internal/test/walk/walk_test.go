package walk

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/project"
)

var (
	walkSeed  = flag.Uint64("walk.seed", 0, "TestWalk: the first seed of the walks")
	walkCount = flag.Int("walk.count", 1, "TestWalk: how many walks from -walk.seed on")
	walkBuild = flag.Bool("walk.build", true, "TestWalk: compile projects; the rest takes a third of the time")
	walkSteps = flag.Int("walk.steps", 10, "TestWalk: steps of a walk")
)

// TestWalk walks through random sequences of commands. After each the project must be as good as a fresh
// one, refused commands must change nothing, and what takes another back must leave no trace. A failure
// prints the shortest sequence found that fails; go test ./cmd/internal/test/walk -run TestWalk -walk.seed N repeats it.
func TestWalk(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs hundreds of commands")
	seeds := []uint64{1, 2, 3}
	if *walkSeed != 0 {
		seeds = nil
		for i := range *walkCount {
			seeds = append(seeds, *walkSeed+uint64(i))
		}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			first, steps := newWalk(seed, *walkSteps)
			failed, problems := walkThrough(t, first, steps)
			if len(problems) == 0 {
				return
			}
			first, steps, problems = shorten(t, first, steps[:failed+1], problems)
			t.Errorf("-walk.seed %d -walk.steps %d: after\n%s\n%s", seed, *walkSteps, transcript(first, steps), strings.Join(problems, "\n"))
		})
	}
}

// transcript is a walk as a person types it.
func transcript(m *walkModel, steps []step) string {
	m = m.clone()
	lines := []string{m.fresh()}
	for _, s := range steps {
		lines = append(lines, s.line(m))
		if !s.allowed(m) {
			continue
		}
		if s.undo != "" {
			lines = append(lines, s.undo)
		} else if !s.same {
			s.apply(m)
		}
	}
	return "  operon " + strings.Join(lines, "\n  operon ")
}

// shorten drops steps one by one, the last ones first, while the walk still fails in the same way.
func shorten(t *testing.T, first *walkModel, steps []step, problems []string) (*walkModel, []step, []string) {
	kind, _, _ := strings.Cut(problems[0], ":")
	for deadline, i := time.Now().Add(4*time.Minute), len(steps)-2; i >= 0 && time.Now().Before(deadline); i-- {
		fewer := append(append([]step{}, steps[:i]...), steps[i+1:]...)
		for j := range fewer[:len(fewer)-1] {
			fewer[j].dry, fewer[j].whole = false, false
		}
		failed, now := walkThrough(t, first, fewer)
		if len(now) == 0 {
			continue
		}
		if again, _, _ := strings.Cut(now[0], ":"); again == kind {
			steps, problems = fewer[:failed+1], now
			i = min(i, len(steps)-1)
		}
	}
	return first, steps, problems
}

// stroll is a walk under way.
type stroll struct {
	tb         testing.TB
	dir, cache string
	m          *walkModel
}

// walkThrough does the steps and returns the one that failed, and why.
func walkThrough(t *testing.T, first *walkModel, steps []step) (failed int, problems []string) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	s := &stroll{dir: filepath.Join(dir, "walk"), cache: filepath.Join(dir, "cache"), m: first.clone()}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the test's folder goes anyway
	for i, next := range steps {
		problems := trying(t, func(tb testing.TB) {
			s.tb = tb
			if i == 0 {
				s.run(0, first.fresh())
			}
			s.step(next)
		})
		if len(problems) > 0 {
			return i, problems
		}
	}
	return 0, nil
}

// run runs a command and holds it to an exit code.
func (s *stroll) run(want int, line string) {
	code, out, errOut := clitest.Run(s.tb, s.dir, s.cache, strings.Fields(line)...)
	if code != want {
		s.tb.Fatalf("exit code: operon %s: %d, want %d\n%s%s", line, code, want, out, errOut)
	}
}

func (s *stroll) step(next step) {
	before := clitest.ReadTree(s.tb, s.dir)
	line := next.line(s.m)
	if !next.allowed(s.m) {
		s.run(2, line)
		s.unchanged(before, "was refused")
		return
	}
	if next.dry {
		s.run(0, line+" --dry-run")
		s.unchanged(before, "was run with --dry-run")
	}
	s.run(0, line)
	s.check()
	switch {
	case next.same:
		s.unchanged(before, "wrote the same again")
	case next.undo != "":
		s.run(0, next.undo)
		s.unchanged(before, "was taken back by operon "+next.undo)
	default:
		s.again(line)
		next.apply(s.m)
	}
	if next.whole && *walkBuild {
		s.checkWhole()
	}
	if next.fresh != "" && len(s.m.things) == 0 { // else the walk was shortened
		s.checkFresh(s.m.fresh())
	}
}

// again runs a command a second time: there is nothing to create, delete or edit any more.
func (s *stroll) again(line string) {
	before := clitest.ReadTree(s.tb, s.dir)
	code := 2
	if strings.HasPrefix(line, "edit ") {
		code = 0
	}
	s.run(code, line)
	s.unchanged(before, "was run a second time")
}

func (s *stroll) unchanged(before map[string]string, what string) {
	after := clitest.ReadTree(s.tb, s.dir)
	for _, name := range clitest.SortedKeys(before) {
		if now, ok := after[name]; !ok {
			s.tb.Errorf("trace: %s is gone after the last command %s", name, what)
		} else if now != before[name] {
			s.tb.Errorf("trace: %s is another after the last command %s:\n%s", name, what, firstDifference(before[name], now))
		}
	}
	for _, name := range clitest.SortedKeys(after) {
		if _, ok := before[name]; !ok {
			s.tb.Errorf("trace: %s is there after the last command %s", name, what)
		}
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%d: -%s\n%d: +%s", i+1, a[i], i+1, b[i])
		}
	}
	return fmt.Sprintf("%d lines, were %d", len(b), len(a))
}

// check holds what is cheap to tell of a project.
func (s *stroll) check() {
	clitest.CheckFormat(s.tb, s.dir)
	clitest.CheckOverlays(s.tb, s.dir)
	data, err := os.ReadFile(filepath.Join(s.dir, "PROJECT"))
	if err != nil {
		s.tb.Fatal(err)
	}
	if config, err := project.Parse(data); err != nil {
		s.tb.Errorf("PROJECT: %v", err)
	} else if !bytes.Equal(config.Bytes(), data) {
		s.tb.Error("PROJECT: is another when read and written")
	}
	s.run(0, "generate --check")
}

// checkWhole holds what takes a compiler.
func (s *stroll) checkWhole() {
	clitest.CheckCompiles(s.tb, s.dir)
	clitest.CheckControllerGen(s.tb, s.dir)
}

// checkFresh holds that the project is what an init gives.
func (s *stroll) checkFresh(line string) {
	other := *s
	other.dir = filepath.Join(s.tb.TempDir(), "walk")
	if err := os.Mkdir(other.dir, 0o755); err != nil {
		s.tb.Fatal(err)
	}
	other.run(0, line)
	s.unchanged(clitest.ReadTree(s.tb, other.dir), "deleted all, compared with operon "+line)
}

// trial collects what fails instead of ending the test.
type trial struct {
	testing.TB
	problems []string
}

func (r *trial) Errorf(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}
func (r *trial) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *trial) Failed() bool      { return len(r.problems) > 0 }
func (r *trial) Fatal(args ...any) { r.Error(args...); runtime.Goexit() }
func (r *trial) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// trying runs checks and returns what failed.
func trying(tb testing.TB, checks func(testing.TB)) []string {
	r := &trial{TB: tb}
	done := make(chan struct{})
	go func() {
		defer close(done)
		checks(r)
	}()
	<-done
	return r.problems
}
