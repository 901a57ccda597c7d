// Soak runs Helm and Ansible operators on a local control plane, with many custom resources, while the API server, etcd, the network and
// the operators fail, and checks that nothing is lost and nothing happens twice. It prints the figures in docs/production.md.
//
// The operators are operon-runtime as it is built. They reach the API server through a gateway that counts requests and injects faults
// (package gateway). The resources, faults and kills are the same for the same -seed; their timing isn't.
//
// Scenarios:
//
//	load      install many resources, change and delete some, and count what the operator does at rest
//	memory    60 periods, an hour with the default period of Helm operators, in which memory must not grow
//	faults    429, errors, slow answers, resets, cut watches, and restarts of the API server
//	leaders   two processes, whose leader is killed or ended while it works
//	kills     kill -9 at each write of an installation, upgrade, rollback and deletion
//	full      etcd has no space, before and in the middle of operations
//	rotation  new tokens, with the old ones refused at once, and new certificates
//
// What must hold is in each scenario; a violation is printed at once and again in the end, and the exit code is 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// options are the flags.
type options struct {
	runtime           string
	resources         int
	ansibleResources  int
	kills             int
	periods           int
	rest              time.Duration
	scenario          *regexp.Regexp
	seed              uint64
	only, dir, output string
	verbose           bool
}

// A soak is one run of the program.
type soak struct {
	options
	dir         string
	plane       *plane
	controllers *controllers
	report      *report
	start       time.Time

	printing sync.Mutex
}

func main() {
	var o options
	flag.StringVar(&o.runtime, "runtime", "bin/operon-runtime", "the operon-runtime `binary` to test")
	flag.IntVar(&o.resources, "resources", 1000, "`number` of custom resources in the scenario load; others use fewer")
	flag.IntVar(&o.ansibleResources, "ansible-resources", 0, "the same for Ansible operators (default: a quarter of -resources), each a run of Ansible")
	flag.IntVar(&o.kills, "kills", 100, "minimum `number` of kills of Helm operators")
	flag.IntVar(&o.periods, "periods", 60, "`number` of periods in the scenario memory")
	flag.DurationVar(&o.rest, "rest", time.Minute, "`time` for which requests at rest are counted")
	flag.Uint64Var(&o.seed, "seed", 1, "`number` that chooses operations and faults")
	flag.StringVar(&o.only, "only", "", "run one `runtime` only: helm or ansible")
	flag.StringVar(&o.dir, "dir", "", "`directory` for projects and logs, which are kept (default: a temporary one, kept after violations)")
	flag.StringVar(&o.output, "output", "", "`file` to write the table of figures to, also printed")
	flag.BoolVar(&o.verbose, "v", false, "print each step")
	scenario := flag.String("scenario", ".", "run the scenarios that match a regular `expression`")
	flag.Parse()
	// The program prints its own errors; libraries log requests that fail while the API server restarts.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, *scenario)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// validate completes the options.
func (o *options) validate(scenario string) (err error) {
	if o.scenario, err = regexp.Compile(scenario); err != nil {
		return fmt.Errorf("-scenario: %w", err)
	}
	if o.runtime, err = filepath.Abs(o.runtime); err != nil {
		return err
	}
	if _, err := os.Stat(o.runtime); err != nil {
		return fmt.Errorf("-runtime: %w; 'make build' builds it", err)
	}
	if o.ansibleResources == 0 {
		o.ansibleResources = max(o.resources/4, 10)
	}
	if o.only != "" && o.only != "helm" && o.only != "ansible" {
		return fmt.Errorf("-only %q: must be helm or ansible", o.only)
	}
	if o.resources < 10 || o.ansibleResources < 10 || o.periods < 8 {
		return errors.New("-resources, -ansible-resources: must be at least 10; -periods: at least 8")
	}
	return checkSystem()
}

func run(ctx context.Context, o options, scenario string) (err error) {
	if err := o.validate(scenario); err != nil {
		return err
	}
	s := &soak{options: o, dir: o.dir, start: time.Now(), report: newReport()}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "operon-soak-"); err != nil {
			return err
		}
		defer func() {
			if err == nil {
				_ = os.RemoveAll(s.dir) // temporary
			}
		}()
	} else if s.dir, err = filepath.Abs(s.dir); err == nil {
		err = os.MkdirAll(s.dir, 0o755)
	}
	if err != nil {
		return err
	}
	if s.plane, err = startPlane(ctx, s.dir, func(message string) { s.printf("%s", message) }); err != nil {
		return err
	}
	defer s.plane.stop()
	working, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	s.controllers = newControllers(s.plane.client)
	background.Go(func() { s.controllers.run(working) })
	problems, err := s.runScenarios(ctx)
	if table := s.report.String(); table != "" {
		fmt.Printf("\n%s\n", table)
		if o.output != "" {
			err = errors.Join(err, os.WriteFile(o.output, []byte(table), 0o600))
		}
	}
	if err == nil && len(problems) > 0 {
		fmt.Printf("%d violations:\n", len(problems))
		for _, problem := range problems {
			fmt.Println("-", problem)
		}
		err = fmt.Errorf("%d violations; the logs are in %s", len(problems), s.dir)
	}
	return err
}

// printf prints a line with the time since the start.
func (s *soak) printf(format string, args ...any) {
	s.printing.Lock()
	defer s.printing.Unlock()
	fmt.Printf("%5.0fs  %s\n", time.Since(s.start).Seconds(), fmt.Sprintf(format, args...))
}
