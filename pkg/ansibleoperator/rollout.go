package ansibleoperator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/redact"
)

// WithRollout limits how many custom resources get the first run of a new version of the operator at once, which has another playbook,
// other roles or other variables: a number, at least 1, or a percentage of the custom resources, such as "10%", which is rounded up. After
// more than maxFailures failed runs, no other one begins. There are no runs for a resource that waits; see ConditionOutdated. By default,
// there are no limits. It requires WithManageStatus.
//
// New and changed custom resources don't wait, and neither does a run that AnnotationReconcileRequestedAt requests.
func WithRollout(maxConcurrent intstr.IntOrString, maxFailures int) Option {
	return func(r *Reconciler) error { return r.kind.SetRollout(maxConcurrent, maxFailures) }
}

// startRollout prepares the rollout before the controller is added.
func (r *Reconciler) startRollout(settings Settings) (err error) {
	rollout := r.kind.Rollout
	if rollout == nil {
		return nil
	}
	rollout.PausedBy = AnnotationPaused
	rollout.IsDeployed = func(obj *unstructured.Unstructured) bool {
		return customresource.ReadCondition(obj, ConditionRunning) != nil
	}
	rollout.Progress = func(obj *unstructured.Unstructured) (running, failed bool) {
		run, failure := customresource.ReadCondition(obj, ConditionRunning), customresource.ReadCondition(obj, ConditionFailure)
		return run["status"] == "True" && run["reason"] == ReasonRunning, failure["status"] == "True"
	}
	rollout.Notify = func(key types.NamespacedName, _ bool) { r.passes.requeue(key, 0) }
	r.digest, err = r.version(settings)
	return err
}

// stage reports whether the resource has to wait for its first run of the version of the operator, and writes so. Otherwise, what the pass
// writes to the status says which version the run has.
func (p *pass) stage(ctx context.Context) (waits bool, err error) {
	p.rollout = &customresource.RolloutState{}
	if p.kind.Rollout == nil || p.deleted {
		return false, nil
	}
	before := customresource.ReadRollout(p.obj)
	after := customresource.RolloutState{Digest: p.digest, Generation: p.generation, InProgress: before.InProgress && before.Digest == p.digest}
	if before.Digest != p.digest && (before.Digest != "" || p.kind.Rollout.IsDeployed(p.obj)) {
		requested := p.kind.Requested(p.obj, AnnotationReconcileRequestedAt) != ""
		turn, err := p.kind.Rollout.Begin(ctx, p.obj, p.digest, requested || before.IsChanged(p.obj))
		if err != nil {
			return false, err
		}
		p.asked = true
		if !turn.Granted {
			p.rollout = nil
			return true, p.write(ctx, []condition{{kind: ConditionOutdated, status: true, reason: turn.Reason, message: turn.Message}})
		}
		after.InProgress = true
	}
	p.rollout = &after
	return false, nil
}

// version returns the digest of what runs depend on: the playbook or role, all roles, and the variables. Variables that may be secret are
// left out: anybody who can read the digest in a status could try to guess them.
func (r *Reconciler) version(s Settings) (string, error) {
	vars, err := json.Marshal(redact.WithoutSecrets(r.vars))
	if err != nil {
		return "", fmt.Errorf("vars: %w", err)
	}
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return "", err
	}
	lists := map[string][]string{"ANSIBLE_ROLES_PATH": slices.Clone(s.RolesPaths), "ANSIBLE_COLLECTIONS_PATH": slices.Clone(s.CollectionsPaths)}
	for name := range lists {
		list, _ := s.lookup(name)
		lists[name] = append(lists[name], filepath.SplitList(list)...)
	}
	paths := append(lists["ANSIBLE_ROLES_PATH"], "roles")
	switch parts := strings.Split(r.source.role, "."); {
	case r.source.playbook != "":
		paths = append(paths, playbookPaths(filepath.Dir(r.source.playbook))...)
	case filepath.IsAbs(r.source.role):
		paths = append(paths, r.source.role)
	case len(parts) > 2:
		for _, path := range lists["ANSIBLE_COLLECTIONS_PATH"] {
			paths = append(paths, filepath.Join(path, "ansible_collections", parts[0], parts[1]))
		}
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %s\n", filepath.Base(r.source.playbook), filepath.Base(r.source.role), vars)
	for i, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if strings.HasPrefix(entry.Name(), ".") && name != path {
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			// In a mounted ConfigMap, files are links.
			info, err := os.Stat(name)
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			content, err := os.ReadFile(name)
			fmt.Fprintf(sum, "%d %q %x\n", i, strings.TrimPrefix(name, path), sha256.Sum256(content))
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			return "", fmt.Errorf("reading the files of %s: %w", r.kind.GVK.Kind, err)
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// playbookPaths returns what a playbook in a directory can use of it: not all files, as runs may write some.
func playbookPaths(dir string) []string {
	var paths []string
	for _, pattern := range []string{
		"*.yml", "*.yaml", "roles", "tasks", "handlers", "vars", "group_vars", "host_vars", "files", "templates", "library", "module_utils", "*_plugins",
	} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are valid
		paths = append(paths, found...)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return filepath.Base(path) == "watches.yaml" })
}
