package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	envp "sigs.k8s.io/controller-runtime/tools/setup-envtest/env"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/workflows"
)

// use runs the workflow of that name, and falls back to Operon's own build.
func (f *envtestFlags) use(ctx context.Context, env *envp.Env, o SetupEnvtestOptions) error {
	asked := env.Version
	err := catchExit(func() {
		workflows.Use{UseEnv: f.useEnv, PrintFormat: f.print, AssetsPath: o.Getenv("KUBEBUILDER_ASSETS")}.Do(env)
	})
	client, ours := env.Client.(*indexClient)
	if err == nil || ctx.Err() != nil || !ours || env.Platform.Platform != hostPlatform() {
		return err
	}
	matches, reason := asked.Matches(ownVersion()), ""
	switch {
	case client.unreachable != nil && asked.CheckLatest && !f.force && f.useInstalled(env, asked):
		fmt.Fprintf(o.Err, "setup-envtest: the index cannot be reached: taking the newest version that is installed\n")
		return nil
	case client.unreachable != nil:
		reason = fmt.Sprintf("the index cannot be reached, and there is no %s here", named(asked))
	case client.reached && !client.fetching && matches:
		reason = fmt.Sprintf("the index has no %s", named(asked))
	case env.NoDownload && matches: // not installed, but perhaps built
	default:
		return err
	}
	if matches && f.useOwn(ctx, env, o, err, true) == nil {
		return nil
	}
	if reason != "" {
		fmt.Fprintf(o.Err, "setup-envtest: %s: taking Operon's own build of %s\n", reason, Version)
	}
	return f.useOwn(ctx, env, o, err, false)
}

// named writes a version selector for people.
func named(spec versions.Spec) string {
	if _, any := spec.Selector.(versions.AnySelector); any {
		return "Kubernetes"
	}
	return "Kubernetes " + spec.Selector.String()
}

// useInstalled prints the newest installed version that matches, if there is one.
func (f *envtestFlags) useInstalled(env *envp.Env, asked versions.Spec) bool {
	env.Version, env.NoDownload = asked, true
	err := catchExit(func() { workflows.Use{PrintFormat: f.print}.Do(env) })
	env.NoDownload = f.installedOnly
	return err == nil
}

// useOwn puts Operon's own build into the store and lets upstream print it. It builds it unless it may use the cache only.
func (f *envtestFlags) useOwn(ctx context.Context, env *envp.Env, o SetupEnvtestOptions, cause error, cached bool) error {
	e := o.Ensure
	e.KubebuilderAssets = "" // --use-env decides about it, and has
	e.StoreDirs = nil
	e.Version = Version
	e.Parts = []string{Etcd, KubeAPIServer, Kubectl}
	e.NoDownload = true
	e.NoBuild = e.NoBuild || env.NoDownload || cached
	assets, err := Ensure(ctx, e)
	switch {
	case errors.Is(err, os.ErrNotExist) && env.NoDownload:
		return cause
	case err != nil:
		return &ExitError{Code: 1, Err: err}
	}
	item := store.Item{Version: ownVersion(), Platform: hostPlatform()}
	if err := addToStore(f.binDir, item, assets.Dir); err != nil {
		return &ExitError{Code: 1, Err: fmt.Errorf("putting Kubernetes %s into the store: %w", assets.Version, err)}
	}
	env.Version.MakeConcrete(ownVersion())
	env.Platform.Platform, env.Platform.Hash = hostPlatform(), nil
	env.ForceDownload, env.NoDownload = false, true
	return catchExit(func() { workflows.Use{PrintFormat: f.print}.Do(env) })
}

// addToStore makes the folder of an item in the store at dir, with links to the files of from. It
// appears with all its files or not at all.
func addToStore(dir string, item store.Item, from string) error {
	base := filepath.Join(dir, "k8s")
	target := filepath.Join(base, item.Platform.BaseName(item.Version))
	if len(missingParts(target, []string{Etcd, KubeAPIServer, Kubectl})) == 0 {
		return nil
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(base, ".operon-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	if err := linkAll(from, work); err != nil {
		return err
	}
	// What is there under this name is incomplete, and may be read-only, as setup-envtest leaves it.
	_ = os.Chmod(target, 0o755)
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	return os.Rename(work, target)
}

// linkAll links or copies the files of one folder into another. Files that are one file stay one.
func linkAll(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	var first string
	var firstInfo os.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		source, target := filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())
		if firstInfo != nil && os.SameFile(info, firstInfo) {
			source = first
		}
		if err := linkOrCopy(source, target); err != nil {
			return err
		}
		if firstInfo == nil {
			first, firstInfo = target, info
		}
	}
	return nil
}
