package runner

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// DefaultRoot contains the directories of runs by default, as in operator-sdk.
	DefaultRoot = "/tmp/ansible-operator/runner"
	// DefaultMaxBytes limits the total size of artifacts by default.
	DefaultMaxBytes = 256 << 20
	// DefaultGracePeriod is the default time between SIGTERM and SIGKILL.
	DefaultGracePeriod = 5 * time.Second

	defaultMaxArtifacts = 20
)

// LogEvents selects the events of runs that are logged.
type LogEvents string

// The values of LogEvents. Failed tasks are part of Tasks.
const (
	Tasks      LogEvents = "tasks"
	Everything LogEvents = "everything"
	Nothing    LogEvents = "nothing"
)

// Config is the configuration of a Runner.
type Config struct {
	// Root contains the directories of all runs. Empty means DefaultRoot. If others can write to it, as to an emptyDir volume, its
	// directory uid-NUMBER, which belongs to the user of the operator, is used instead.
	Root string
	// Environ is the environment of runs. PATH in it locates ansible-runner.
	Environ []string
	// Dir is the working directory of the operator, which relative paths in Environ refer to.
	Dir string
	// RolesPaths and CollectionsPaths are searched before the paths in Environ.
	RolesPaths, CollectionsPaths []string
	// Args is added to the command line of ansible-playbook, in the form of a POSIX shell, without expansions. One pair of single quotes
	// around all of it is removed, as by operator-sdk, whose documentation has it in manifests, where no shell removes it.
	Args string
	// LogEvents is Tasks if empty.
	LogEvents LogEvents
	// Output receives the output of each run after its end, without secrets, if it is not nil.
	Output io.Writer
	// MaxBytes limits the total size of the artifacts of all runs; the oldest are removed, and a run that alone exceeds it is ended.
	// Zero means DefaultMaxBytes, a negative value no limit.
	MaxBytes int64
	// GracePeriod is the time between SIGTERM and SIGKILL for the processes of a run that is ended. Zero means DefaultGracePeriod.
	GracePeriod time.Duration
	// Cold starts new interpreters for each run instead of copies of one that has loaded Ansible.
	Cold bool
	Log  logr.Logger
}

// A Runner runs playbooks and roles. Its methods may be called concurrently.
type Runner struct {
	config Config
	env    *environment
	root   *root
	disk   *disk
	warm   *warm

	locks  sync.Map // path of a run directory → chan struct{} with one element
	closed chan struct{}
	close  func()
	runs   sync.WaitGroup

	mu      sync.Mutex
	outputs sync.Mutex
}

//go:embed all:python
var python embed.FS

// New creates the directories of a Runner and starts the process that removes them if the operator is killed. It removes
// directories that killed operators have left behind, except for the artifacts of the last failed run of each custom resource.
func New(config Config) (*Runner, error) {
	if config.Root == "" {
		config.Root = DefaultRoot
	}
	if config.MaxBytes == 0 {
		config.MaxBytes = DefaultMaxBytes
	}
	if config.GracePeriod == 0 {
		config.GracePeriod = DefaultGracePeriod
	}
	switch config.LogEvents {
	case "":
		config.LogEvents = Tasks
	case Tasks, Everything, Nothing:
	default:
		return nil, fmt.Errorf("log events %q: must be tasks, everything or nothing", config.LogEvents)
	}
	env, err := newEnvironment(config)
	if err != nil {
		return nil, err
	}
	root, err := openRoot(config.Root, env, config.Log)
	if err != nil {
		return nil, err
	}
	r := &Runner{config: config, env: env, root: root, disk: &disk{limit: config.MaxBytes}, closed: make(chan struct{})}
	r.close = sync.OnceFunc(func() { close(r.closed) })
	_, failed := root.failedRuns()
	if err := r.disk.adopt(failed); err != nil {
		config.Log.Error(err, "cannot limit the artifacts of failed runs", "directory", root.dir)
	}
	r.warm = newWarm(r)
	return r, nil
}

// Close ends all runs and removes the directories of the Runner, except for the artifacts of the last failed run of each custom resource.
func (r *Runner) Close() error {
	r.mu.Lock()
	r.close()
	r.mu.Unlock()
	r.runs.Wait()
	r.warm.close()
	return r.root.close()
}

// Remove removes the directory of a custom resource, unless another operator uses it. It waits for the end of a run, which the caller
// cancels.
func (r *Runner) Remove(ctx context.Context, gvk schema.GroupVersionKind, key types.NamespacedName) error {
	dir, err := r.root.path(gvk, key)
	if err != nil {
		return err
	}
	unlock, err := r.lock(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	defer r.locks.Delete(dir)
	if r.root.isForeign(dir) {
		return nil
	}
	r.disk.drop(dir)
	return r.root.remove(dir)
}

// lock waits for the end of another run in a directory.
func (r *Runner) lock(ctx context.Context, dir string) (unlock func(), err error) {
	for {
		value, _ := r.locks.LoadOrStore(dir, make(chan struct{}, 1))
		lock := value.(chan struct{})
		select {
		case lock <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-r.closed:
			return nil, errClosed
		}
		if current, _ := r.locks.Load(dir); current == value {
			return func() { <-lock }, nil
		}
		<-lock // Remove has replaced it.
	}
}

var errClosed = errors.New("the runner is closed")

// begin registers a run, so that Close waits for it.
func (r *Runner) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.closed:
		return errClosed
	default:
		r.runs.Add(1)
		return nil
	}
}

// writePython writes the Python files of this package to a directory.
func writePython(dir string) error {
	files, err := fs.Sub(python, "python")
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(name))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
}
