package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bench contains the compared programs.
type bench struct {
	operon, peers, dir string
	rounds             int
	// start and words make words that are new in every run of this program.
	start, words int64
}

// commandTimeout is far above the duration of any command.
const commandTimeout = 15 * time.Minute

// row is a row of the table: two sides, one of which may be missing.
type row struct {
	name string
	// goal is the maximum duration of Operon's side with warm caches; 0 is none.
	goal time.Duration
	// prepare prepares the directory of a run; it is not timed.
	prepare func(dir string) error
	// change is done before each run, not timed.
	change       func(dir string, round int) error
	operon, peer []command
	// rounds replaces the number of counted runs, unless it is 0.
	rounds int
	// until is a text after which a command that does not end by itself is interrupted.
	until string
}

// command is a program with its arguments.
type command []string

// sample is the result of one run.
type sample struct {
	wall   time.Duration
	memory int64 // of the largest process, bytes
}

// result contains the medians of a row.
type result struct {
	name         string
	goal         time.Duration
	operon, peer *sample
}

func (r result) String() string {
	cell := func(s *sample) (string, string) {
		if s == nil {
			return "-", "-"
		}
		return s.wall.Round(100 * time.Microsecond).String(), fmt.Sprintf("%.0f", float64(s.memory)/(1<<20))
	}
	ours, oursMemory := cell(r.operon)
	theirs, theirsMemory := cell(r.peer)
	ratio := "-"
	if r.operon != nil && r.peer != nil {
		ratio = fmt.Sprintf("%.1fx", r.peer.wall.Seconds()/r.operon.wall.Seconds())
	}
	line := fmt.Sprintf("%-42s %10s %10s %7s %9s %9s", r.name, ours, theirs, ratio, oursMemory, theirsMemory)
	if r.goal == 0 {
		return line
	}
	verdict := "met"
	if r.operon.wall > r.goal {
		verdict = "missed"
	}
	return fmt.Sprintf("%s   goal %s: %s", line, r.goal, verdict)
}

// measure runs both sides of a row in turn.
func (b *bench) measure(r row) (result, error) {
	var ours, theirs []sample
	dirs := [2]string{}
	for i := range dirs {
		dirs[i] = filepath.Join(b.dir, fmt.Sprintf("%s-%d", strings.ReplaceAll(strings.ReplaceAll(r.name, " ", "-"), ",", ""), i))
		if err := os.MkdirAll(dirs[i], 0o755); err != nil {
			return result{}, err
		}
	}
	for round := range cmp.Or(r.rounds, b.rounds) + 1 {
		for i, side := range [][]command{r.operon, r.peer} {
			if side == nil {
				continue
			}
			s, err := b.once(r, dirs[i], side, round)
			if err != nil {
				return result{}, err
			}
			if round == 0 {
				continue
			}
			if i == 0 {
				ours = append(ours, s)
			} else {
				theirs = append(theirs, s)
			}
		}
	}
	return result{name: r.name, goal: r.goal, operon: median(ours), peer: median(theirs)}, nil
}

func (b *bench) once(r row, dir string, side []command, round int) (sample, error) {
	if r.prepare != nil {
		if err := os.RemoveAll(dir); err != nil {
			return sample{}, err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return sample{}, err
		}
		if err := r.prepare(dir); err != nil {
			return sample{}, err
		}
	}
	if r.change != nil {
		if err := r.change(dir, round); err != nil {
			return sample{}, err
		}
	}
	var total sample
	for _, c := range side {
		s, err := b.exec(dir, c, r.until)
		if err != nil {
			return sample{}, err
		}
		total.wall += s.wall
		total.memory = max(total.memory, s.memory)
	}
	return total, nil
}

// exec runs a command in a directory, with the peers' tools first in PATH. {new} in an argument is replaced by a unique word, so
// that caches have no effect.
func (b *bench) exec(dir string, c command, until string) (sample, error) {
	c = slices.Clone(c)
	for i := range c {
		if strings.Contains(c[i], "{new}") {
			b.words++
			c[i] = strings.ReplaceAll(c[i], "{new}", "N"+strconv.FormatInt(b.start+b.words, 36))
		}
	}
	// A command that hangs is ended; one on a machine with much else to do is not.
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	p := exec.CommandContext(ctx, c[0], c[1:]...)
	p.Cancel = func() error { return p.Process.Signal(os.Interrupt) }
	p.WaitDelay = 30 * time.Second
	p.Dir = dir
	p.Env = append(os.Environ(), "PATH="+b.peers+string(os.PathListSeparator)+os.Getenv("PATH"), "GOFLAGS=-mod=mod")
	var out bytes.Buffer
	p.Stdout, p.Stderr = &out, &out
	start := time.Now()
	var wall time.Duration
	if until != "" {
		p.Stdout = &trigger{text: until, out: &out, pull: func() {
			wall = time.Since(start)
			_ = p.Process.Signal(os.Interrupt) // one that has ended fails below
		}}
		p.Stderr = p.Stdout
	}
	if err := p.Run(); err != nil {
		return sample{}, fmt.Errorf("%s: %w\n%s", strings.Join(c, " "), err, out.String())
	}
	if until == "" {
		wall = time.Since(start)
	} else if wall == 0 {
		return sample{}, fmt.Errorf("%s ended without %s\n%s", strings.Join(c, " "), until, out.String())
	}
	return sample{wall: wall, memory: peakMemory(p.ProcessState)}, nil
}

// trigger calls a function once, when a text has been written.
type trigger struct {
	text string
	out  *bytes.Buffer
	pull func()
	done bool
}

func (t *trigger) Write(p []byte) (int, error) {
	n, err := t.out.Write(p)
	if !t.done && bytes.Contains(t.out.Bytes(), []byte(t.text)) {
		t.done = true
		t.pull()
	}
	return n, err
}

func median(samples []sample) *sample {
	if len(samples) == 0 {
		return nil
	}
	slices.SortFunc(samples, func(a, b sample) int { return int(a.wall - b.wall) })
	return &samples[len(samples)/2]
}
