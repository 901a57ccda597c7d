package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A scenario is run with each runtime.
type scenario struct {
	name string
	// limit is the maximum time.
	limit time.Duration
	// parallel scenarios run with both runtimes at once. Others measure time, or use the only control plane.
	parallel bool
	run      func(context.Context, *env) error
}

func scenarios() []scenario {
	return []scenario{
		{"load", 2 * time.Hour, false, runLoad},
		{"memory", 20 * time.Minute, true, runMemory},
		{"faults", 30 * time.Minute, false, runFaults},
		{"leaders", 20 * time.Minute, true, runLeaders},
		{"kills", 40 * time.Minute, true, runKills},
		{"full", 20 * time.Minute, false, runFull},
		{"rotation", 15 * time.Minute, true, runRotation},
	}
}

// runScenarios returns what was violated. The error is about the program itself.
func (s *soak) runScenarios(ctx context.Context) (problems []string, err error) {
	flavors := []*flavor{helmFlavor(), ansibleFlavor()}
	if s.only != "" {
		flavors = map[string][]*flavor{"helm": flavors[:1], "ansible": flavors[1:]}[s.only]
	}
	if err := s.createKinds(ctx, flavors); err != nil {
		return nil, err
	}
	for _, scenario := range scenarios() {
		if !s.scenario.MatchString(scenario.name) {
			continue
		}
		type result struct {
			problems []string
			err      error
		}
		results := make([]result, len(flavors))
		var group sync.WaitGroup
		for i, f := range flavors {
			group.Go(func() { results[i].problems, results[i].err = s.runScenario(ctx, scenario, f) })
			if !scenario.parallel {
				group.Wait()
			}
		}
		group.Wait()
		for _, r := range results {
			problems = append(problems, r.problems...)
			if r.err != nil {
				return problems, r.err
			}
		}
	}
	return problems, nil
}

// runScenario runs a scenario with one runtime. Running out of time is a violation.
func (s *soak) runScenario(ctx context.Context, scenario scenario, f *flavor) ([]string, error) {
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, scenario.limit)
	defer cancel()
	e, err := s.newEnv(limited, scenario.name, f)
	if err != nil {
		return nil, err
	}
	err = scenario.run(limited, e)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case limited.Err() != nil:
		e.violatef("not done within %s: %v", scenario.limit, err)
		err = nil
	case err != nil:
		err = fmt.Errorf("%s, %s: %w", scenario.name, f.name, err)
	}
	problems := e.close()
	e.progressf("done in %.0f s, %d violations", time.Since(start).Seconds(), len(problems))
	s.report.set(f.name, "violations", "**Violations**", fmt.Sprint(s.report.add(f.name, len(problems))))
	return problems, err
}
