package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/testdata/ansible"
)

var gvk = schema.GroupVersionKind{Group: "cache.example.com", Version: "v1alpha1", Kind: "Memcached"}

// env is a Runner of a test with a directory for playbooks and roles.
type env struct {
	*testing.T
	runner    *runner.Runner
	root, dir string
	log       *logs
}

type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) add(prefix, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, prefix+args)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// cold makes a Runner start new interpreters, which takes less time for one or two runs.
func cold(c *runner.Config) { c.Cold = true }

// newEnv creates a Runner. It needs ansible-runner and ansible in PATH, as make ansible installs them.
func newEnv(t *testing.T, change ...func(*runner.Config)) *env {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts ansible-runner")
	}
	ansible.Require(t)
	e := &env{T: t, root: filepath.Join(t.TempDir(), "runs"), dir: t.TempDir(), log: &logs{}}
	config := runner.Config{
		Root: e.root, Dir: e.dir, Environ: os.Environ(), GracePeriod: 3 * time.Second,
		Log: funcr.New(e.log.add, funcr.Options{}),
	}
	for _, c := range change {
		c(&config)
	}
	r, err := runner.New(config)
	if err != nil {
		t.Fatal(err)
	}
	e.runner = r
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(e.log)
		}
	})
	return e
}

// write writes a file below the directory of the test and returns its path.
func (e *env) write(name, text string) string {
	e.Helper()
	path := filepath.Join(e.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		e.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		e.Fatal(err)
	}
	return path
}

// playbook writes a playbook with tasks and returns a request for it.
func (e *env) playbook(name, tasks string) runner.Request {
	e.Helper()
	text := "- hosts: localhost\n  gather_facts: false\n  tasks:\n"
	for line := range strings.Lines(tasks) {
		text += "    " + line
	}
	return e.request(name, e.write(name+".yml", text))
}

func (e *env) request(name, playbook string) runner.Request {
	return runner.Request{
		GVK: gvk, Key: types.NamespacedName{Namespace: "default", Name: name}, Playbook: playbook,
		Kubeconfig: []byte("apiVersion: v1\nkind: Config\n"),
	}
}

// run runs a request that must not return an error.
func (e *env) run(request runner.Request) *runner.Result {
	e.Helper()
	result, err := e.runner.Run(e.Context(), request)
	if err != nil {
		e.Fatal(err)
	}
	return result
}

// runDir returns the directory of a custom resource.
func (e *env) runDir(name string) string {
	return filepath.Join(e.root, "cache.example.com", "v1alpha1", "Memcached", "default", name)
}

// eventually waits until check returns an empty text.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	var problem string
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if problem = check(); problem == "" {
			return
		}
	}
	t.Fatal(problem)
}

// processes returns the command lines of processes that contain a text.
func processes(t *testing.T, text string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if line := strings.ReplaceAll(string(data), "\x00", " "); err == nil && strings.Contains(line, text) {
			found = append(found, filepath.Base(filepath.Dir(file))+" "+line)
		}
	}
	return found
}

// exists reports whether a file exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
