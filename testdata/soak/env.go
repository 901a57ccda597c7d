package main

import (
	"context"
	"embed"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/gateway"
)

//go:embed projects
var projects embed.FS

const group = "soak.example.com"

// A flavor is one of the runtimes.
type flavor struct {
	name, operator, kind, plural string
	// objectKinds are the versions and kinds of objects that belong to resources.
	objectKinds [][2]string
	// check returns what differs from the expectation of a resource.
	check func(*snapshot, *resource) []string
}

func (f *flavor) apiVersion() string { return group + "/v1" }

// An env is what a scenario uses with one runtime: a project, a namespace, a gateway and operators.
type env struct {
	*soak
	scenario  string
	flavor    *flavor
	namespace string
	dir       string
	gateway   *gateway.Gateway
	requests  requests
	rand      *rand.Rand
	expected  map[string]*resource

	// token is the number of the current token.
	token int

	mu        sync.Mutex
	operators []*operator
	problems  []string
}

// newEnv writes the project and starts the gateway.
func (s *soak) newEnv(ctx context.Context, scenario string, f *flavor) (*env, error) {
	h := fnv.New64a()
	fmt.Fprint(h, scenario, f.name)
	name := scenario + "-" + f.name
	e := &env{
		soak: s, scenario: scenario, flavor: f, namespace: name, dir: filepath.Join(s.dir, name), expected: map[string]*resource{}, requests: requests{counts: counts{}},
		rand: rand.New(rand.NewPCG(s.seed, h.Sum64())), //nolint:gosec // the same operations for the same seed
	}
	project, err := fs.Sub(projects, "projects/"+f.name)
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(e.dir, project); err != nil {
		return nil, err
	}
	err = poll(ctx, time.Minute, time.Second, func(ctx context.Context) error {
		return e.plane.client.Create(ctx, parse("{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}"))
	})
	if err != nil {
		return nil, fmt.Errorf("creating the namespace: %w", err)
	}
	e.gateway, err = gateway.Start(gateway.Options{URL: s.plane.URL, CAData: s.plane.CAData, Token: s.plane.Token, Seed: s.seed, Record: e.requests.record})
	if err != nil {
		return nil, err
	}
	if err := e.rotateToken(); err != nil {
		return nil, err
	}
	return e, os.WriteFile(e.kubeconfig(), e.gateway.Kubeconfig(filepath.Join(e.dir, "token")), 0o600)
}

func (e *env) kubeconfig() string { return filepath.Join(e.dir, "kubeconfig") }

// rotateToken writes a new token, and makes the gateway refuse the one before.
func (e *env) rotateToken() error {
	e.token++
	token := fmt.Sprintf("token-%d", e.token)
	// As kubelets do: readers see either of the tokens.
	next := filepath.Join(e.dir, "token.next")
	if err := os.WriteFile(next, []byte(token), 0o600); err != nil {
		return err
	}
	e.gateway.SetTokens(token)
	return os.Rename(next, filepath.Join(e.dir, "token"))
}

// close ends operators and the gateway, and returns the problems.
func (e *env) close() []string {
	for _, o := range e.operators {
		o.kill()
	}
	if e.gateway != nil {
		e.gateway.Stop()
	}
	for _, o := range e.operators {
		if line := o.panicked(); line != "" {
			e.violatef("the operator panicked (%s): %s", o.logName, line)
		}
	}
	return e.problems
}

// violatef records that something that must hold doesn't.
func (e *env) violatef(format string, args ...any) {
	text := fmt.Sprintf("%s, %s: %s", e.scenario, e.flavor.name, fmt.Sprintf(format, args...))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.problems = append(e.problems, text)
	fmt.Fprintln(os.Stderr, "VIOLATED:", text)
}

// progressf prints what happens.
func (e *env) progressf(format string, args ...any) {
	e.printf("%-9s %-7s %s", e.scenario, e.flavor.name, fmt.Sprintf(format, args...))
}

// detailf prints more with -v.
func (e *env) detailf(format string, args ...any) {
	if e.verbose {
		e.progressf(format, args...)
	}
}

// createKinds creates the custom resource definitions.
func (s *soak) createKinds(ctx context.Context, flavors []*flavor) error {
	text, err := projects.ReadFile("projects/crd.yaml")
	if err != nil {
		return err
	}
	for _, f := range flavors {
		replacer := strings.NewReplacer("PLURAL", f.plural, "SINGULAR", strings.ToLower(f.kind), "KIND", f.kind)
		if err := s.plane.client.Create(ctx, parse(replacer.Replace(string(text)))); err != nil {
			return fmt.Errorf("creating the kind %s: %w", f.kind, err)
		}
		err := poll(ctx, time.Minute, 100*time.Millisecond, func(ctx context.Context) error {
			return s.plane.client.List(ctx, newList(f.apiVersion(), f.kind))
		})
		if err != nil {
			return fmt.Errorf("the kind %s isn't served: %w", f.kind, err)
		}
	}
	return nil
}

// parse returns the object in a manifest of this program.
func parse(text string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = obj.UnmarshalJSON(data) // with the types that objects from an API server have
	}
	if err != nil {
		panic(err) // the manifest is a constant
	}
	return obj
}
