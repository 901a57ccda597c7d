//go:build !unix

package runner

import (
	"context"
	"errors"
	"os"
	"time"
)

const eventsFD = 5

var errUnsupported = errors.New("unsupported operating system; ansible-runner requires Linux or macOS")

type supervised struct {
	events *os.File
	ended  chan outcome
}

type outcome struct {
	code      int
	leftovers []string
	err       error
	unstarted bool
}

func (r *Runner) start(context.Context, []string, []string, string, string, *tail, bool) (*supervised, error) {
	return nil, errUnsupported
}

func (s *supervised) stop(time.Duration) {}

func (s *supervised) close() {}

func startGuard(string, string, string, string) (func(bool), error) { return nil, errUnsupported }

func privateDir(dir string) (string, error) { return dir, nil }
