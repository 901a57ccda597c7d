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
	walkSeed  = flag.Uint64("walk.seed", 0, "TestWalk: the first seed")
	walkCount = flag.Int("walk.count", 1, "TestWalk: number of sequences, from -walk.seed on")
	walkBuild = flag.Bool("walk.build", true, "TestWalk: compile projects, which takes two thirds of the time")
	walkSteps = flag.Int("walk.steps", 10, "TestWalk: steps of a sequence")
)

// TestWalk runs random sequences of commands. After each command the project must be consistent, failed commands must change
// nothing, and commands that undo others must restore all files. A failure prints the shortest sequence found that fails.
// go test ./cmd/internal/test/walk -run TestWalk -walk.seed N repeats it.
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
			failed, problems := runSteps(t, first, steps)
			if len(problems) == 0 {
				return
			}
			first, steps, problems = shorten(t, first, steps[:failed+1], problems)
			t.Errorf("-walk.seed %d -walk.steps %d: after\n%s\n%s", seed, *walkSteps, transcript(first, steps), strings.Join(problems, "\n"))
		})
	}
}

// transcript returns the commands of a sequence, one per line.
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

// shorten removes steps one by one, from the last to the first, as long as the sequence fails with the same kind of problem.
func shorten(t *testing.T, first *walkModel, steps []step, problems []string) (*walkModel, []step, []string) {
	kind, _, _ := strings.Cut(problems[0], ":")
	for deadline, i := time.Now().Add(4*time.Minute), len(steps)-2; i >= 0 && time.Now().Before(deadline); i-- {
		shorter := append(append([]step{}, steps[:i]...), steps[i+1:]...)
		for j := range shorter[:len(shorter)-1] {
			shorter[j].dry, shorter[j].build = false, false
		}
		failed, now := runSteps(t, first, shorter)
		if len(now) == 0 {
			continue
		}
		if repeat, _, _ := strings.Cut(now[0], ":"); repeat == kind {
			steps, problems = shorter[:failed+1], now
			i = min(i, len(steps)-1)
		}
	}
	return first, steps, problems
}

// A runner runs a sequence of commands.
type runner struct {
	tb         testing.TB
	dir, cache string
	m          *walkModel
}

// runSteps runs the steps and returns the index of the one that failed, with the problems.
func runSteps(t *testing.T, first *walkModel, steps []step) (failed int, problems []string) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	s := &runner{dir: filepath.Join(dir, "walk"), cache: filepath.Join(dir, "cache"), m: first.clone()}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) // t.TempDir removes it, too
	for i, next := range steps {
		problems := collectFailures(t, func(tb testing.TB) {
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

// run runs a command and checks its exit code.
func (s *runner) run(want int, line string) {
	code, out, errOut := clitest.Run(s.tb, s.dir, s.cache, strings.Fields(line)...)
	if code != want {
		s.tb.Fatalf("exit code: operon %s = %d, want %d\n%s%s", line, code, want, out, errOut)
	}
}

func (s *runner) step(next step) {
	before := clitest.ReadTree(s.tb, s.dir)
	line := next.line(s.m)
	if !next.allowed(s.m) {
		s.run(2, line)
		s.unchanged(before, "failed")
		return
	}
	if next.dry {
		s.run(0, line+" --dry-run")
		s.unchanged(before, "ran with --dry-run")
	}
	s.run(0, line)
	s.check()
	switch {
	case next.same:
		s.unchanged(before, "rewrote the same files")
	case next.undo != "":
		s.run(0, next.undo)
		s.unchanged(before, "was undone by operon "+next.undo)
	default:
		s.repeat(line)
		next.apply(s.m)
	}
	if next.build && *walkBuild {
		s.checkBuild()
	}
	if next.fresh != "" && len(s.m.resources) == 0 { // otherwise the sequence was shortened
		s.checkInitial(s.m.fresh())
	}
}

// repeat runs a command a second time, when nothing remains to create, delete or edit.
func (s *runner) repeat(line string) {
	before := clitest.ReadTree(s.tb, s.dir)
	code := 2
	if strings.HasPrefix(line, "edit ") {
		code = 0
	}
	s.run(code, line)
	s.unchanged(before, "ran a second time")
}

func (s *runner) unchanged(before map[string]string, what string) {
	after := clitest.ReadTree(s.tb, s.dir)
	for _, name := range clitest.SortedKeys(before) {
		if now, ok := after[name]; !ok {
			s.tb.Errorf("trace: %s does not exist after the last command %s", name, what)
		} else if now != before[name] {
			s.tb.Errorf("trace: %s differs after the last command %s:\n%s", name, what, firstDifference(before[name], now))
		}
	}
	for _, name := range clitest.SortedKeys(after) {
		if _, ok := before[name]; !ok {
			s.tb.Errorf("trace: %s exists after the last command %s", name, what)
		}
	}
}

// firstDifference returns the first line in which two texts differ.
func firstDifference(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%d: -%s\n%d: +%s", i+1, a[i], i+1, b[i])
		}
	}
	return fmt.Sprintf("%d lines, were %d", len(b), len(a))
}

// check runs the checks of a project that need no compiler.
func (s *runner) check() {
	clitest.CheckFormat(s.tb, s.dir)
	clitest.CheckOverlays(s.tb, s.dir)
	data, err := os.ReadFile(filepath.Join(s.dir, "PROJECT"))
	if err != nil {
		s.tb.Fatal(err)
	}
	if config, err := project.Parse(data); err != nil {
		s.tb.Errorf("PROJECT: %v", err)
	} else if !bytes.Equal(config.Bytes(), data) {
		s.tb.Error("PROJECT: differs after Parse and Bytes")
	}
	s.run(0, "generate --check")
}

// checkBuild runs the checks of a project that need a compiler.
func (s *runner) checkBuild() {
	clitest.CheckCompiles(s.tb, s.dir)
	clitest.CheckControllerGen(s.tb, s.dir)
}

// checkInitial checks that the project is the result of an init command.
func (s *runner) checkInitial(line string) {
	other := *s
	other.dir = filepath.Join(s.tb.TempDir(), "walk")
	if err := os.Mkdir(other.dir, 0o755); err != nil {
		s.tb.Fatal(err)
	}
	other.run(0, line)
	s.unchanged(clitest.ReadTree(s.tb, other.dir), "deleted the last resource, compared with operon "+line)
}

// A failureRecorder collects failures instead of failing the test.
type failureRecorder struct {
	testing.TB
	problems []string
}

func (r *failureRecorder) Errorf(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}
func (r *failureRecorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *failureRecorder) Failed() bool      { return len(r.problems) > 0 }
func (r *failureRecorder) Fatal(args ...any) { r.Error(args...); runtime.Goexit() }
func (r *failureRecorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// collectFailures runs checks and returns their failures.
func collectFailures(tb testing.TB, checks func(testing.TB)) []string {
	r := &failureRecorder{TB: tb}
	done := make(chan struct{})
	go func() {
		defer close(done)
		checks(r)
	}()
	<-done
	return r.problems
}
