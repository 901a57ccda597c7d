package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stages is the number of scenarios of a row.
const stages = 10

// testRows are the rows of 'operon test' and 'operon render' with the golden memcached project, whose manager is built before.
func (b *bench) testRows(golden func(string) error) []row {
	behavior := command{b.operon, "test", "behavior", "-y"}
	var scenarios []string
	for i := range stages {
		scenarios = append(scenarios, fmt.Sprint("s", i))
	}
	const packages = "-count=1 ./api/... ./internal/..."
	return []row{
		{name: "test behavior", goal: 20 * time.Second, rounds: 3, change: b.prepared(golden), operon: []command{behavior}},
		{
			name: fmt.Sprintf("test behavior, %d scenarios", stages), goal: time.Minute, rounds: 3, change: b.prepared(withScenarios(golden, scenarios)),
			operon: []command{append(behavior, "--scenario", strings.Join(scenarios, ","))},
		},
		{
			name: "render", goal: 8 * time.Second, rounds: 3, change: b.prepared(golden),
			operon: []command{{b.operon, "render", "-y", "-f", "config/samples/cache_v1alpha1_memcached.yaml"}},
		},
		{
			name: "test, or make test", rounds: 3, change: b.prepared(golden),
			operon: []command{append(command{b.operon, "test", "--"}, strings.Fields(packages)...)},
			peer:   []command{{"sh", "-c", "KUBEBUILDER_ASSETS=$(" + b.operon + " tool setup-envtest use -p path) go test " + packages}},
		},
	}
}

// withScenarios prepares a project with copies of a scenario.
func withScenarios(prepare func(string) error, names []string) func(string) error {
	const sample = "apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata:\n  name: scaled\n"
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: scaled\n"
	files := map[string]string{
		"00-install.yaml": sample + "spec:\n  size: 1\n", "00-assert.yaml": deployment + "spec:\n  replicas: 1\n",
		"01-patch.yaml": sample + "spec:\n  size: 2\n", "01-assert.yaml": deployment + "status:\n  readyReplicas: 2\n",
		"02-delete.yaml": sample, "02-error.yaml": deployment,
	}
	return func(dir string) error {
		if err := prepare(dir); err != nil {
			return err
		}
		for _, name := range names {
			scenario := filepath.Join(dir, "test", "operon", name)
			if err := os.MkdirAll(scenario, 0o755); err != nil {
				return err
			}
			for file, content := range files {
				if err := os.WriteFile(filepath.Join(scenario, file), []byte(content), 0o644); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
