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

// use runs the workflow of that name, and falls back to Operon's build.
func (f *envtestFlags) use(ctx context.Context, env *envp.Env, o SetupEnvtestOptions) error {
	requested := env.Version
	err := catchExit(func() {
		workflows.Use{UseEnv: f.useEnv, PrintFormat: f.print, AssetsPath: o.Getenv("KUBEBUILDER_ASSETS")}.Do(env)
	})
	client, ours := env.Client.(*indexClient)
	if err == nil || ctx.Err() != nil || !ours || env.Platform.Platform != hostPlatform() {
		return err
	}
	matches, reason := requested.Matches(ownVersion()), ""
	switch {
	case client.unreachable != nil && requested.CheckLatest && !f.force && f.useInstalled(env, requested):
		fmt.Fprintf(o.Err, "setup-envtest: the index cannot be reached: using the newest installed version\n")
		return nil
	case client.unreachable != nil:
		reason = fmt.Sprintf("the index cannot be reached, and %s is not installed", describeVersion(requested))
	case client.reached && !client.fetching && matches:
		reason = fmt.Sprintf("the index has no %s", describeVersion(requested))
	case env.NoDownload && matches: // not installed, but possibly built
	default:
		return err
	}
	if matches && f.useOwn(ctx, env, o, err, true) == nil {
		return nil
	}
	if reason != "" {
		fmt.Fprintf(o.Err, "setup-envtest: %s: using Operon's build of %s\n", reason, Version)
	}
	return f.useOwn(ctx, env, o, err, false)
}

// describeVersion describes a version selector.
func describeVersion(spec versions.Spec) string {
	if _, any := spec.Selector.(versions.AnySelector); any {
		return "Kubernetes"
	}
	return "Kubernetes " + spec.Selector.String()
}

// useInstalled prints the newest installed version that matches, if there is one.
func (f *envtestFlags) useInstalled(env *envp.Env, requested versions.Spec) bool {
	env.Version, env.NoDownload = requested, true
	err := catchExit(func() { workflows.Use{PrintFormat: f.print}.Do(env) })
	env.NoDownload = f.installedOnly
	return err == nil
}

// useOwn adds Operon's build to the store and prints it. With cached, it does not build.
func (f *envtestFlags) useOwn(ctx context.Context, env *envp.Env, o SetupEnvtestOptions, cause error, cached bool) error {
	e := o.Ensure
	e.KubebuilderAssets = "" // upstream handles it with --use-env
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
		return &ExitError{Code: 1, Err: fmt.Errorf("adding Kubernetes %s to the store: %w", assets.Version, err)}
	}
	env.Version.MakeConcrete(ownVersion())
	env.Platform.Platform, env.Platform.Hash = hostPlatform(), nil
	env.ForceDownload, env.NoDownload = false, true
	return catchExit(func() { workflows.Use{PrintFormat: f.print}.Do(env) })
}

// addToStore creates the directory of an item in the store at dir, with links to the files in from, atomically.
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
	// An existing directory is incomplete, and setup-envtest makes it read-only.
	_ = os.Chmod(target, 0o755)
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	return os.Rename(work, target)
}

// linkAll links or copies the files of a directory to another one. It keeps hard links between them.
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
		if err := LinkOrCopy(source, target); err != nil {
			return err
		}
		if firstInfo == nil {
			first, firstInfo = target, info
		}
	}
	return nil
}
