package source

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"sort"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Template renders a chart as 'helm template' does.
func Template(ctx context.Context, request helmchart.TemplateRequest) (*helmchart.TemplateAnswer, error) {
	loaded, err := loadChart(request.Files)
	if err != nil {
		return nil, err
	}
	if err := checkInstallable(loaded); err != nil {
		return nil, err
	}
	values, err := userValues(request.Values)
	if err != nil {
		return nil, err
	}
	install := action.NewInstall(action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)))
	install.DryRunStrategy = action.DryRunClient
	install.Replace = true // a release of that name may be in the cluster, which isn't asked
	install.ReleaseName, install.Namespace = request.ReleaseName, request.Namespace
	install.IncludeCRDs, install.APIVersions = request.IncludeCRDs, common.VersionSet(request.APIVersions)
	install.SkipSchemaValidation = externalReference(loaded) != ""
	kubernetes := cmp.Or(request.KubeVersion, fmt.Sprintf("v1.%d.0", minorOf(kubernetesVersion))) // Helm's default, which it reads from its own program
	if install.KubeVersion, err = common.ParseKubeVersion(kubernetes); err != nil {
		return nil, fmt.Errorf("--kube-version %q: must be a version of Kubernetes, such as %s", kubernetes, kubernetesVersion)
	}
	l := &limits{time: maxRenderTime, memory: maxRenderMemory}
	done := make(chan struct{})
	var release *releasev1.Release
	go func() {
		defer close(done)
		made, runErr := install.RunWithContext(ctx, loaded, values)
		release, _ = made.(*releasev1.Release)
		err = runErr
	}()
	if err := l.wait(ctx, done); err != nil {
		return nil, err
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s", templateError(err))
	case release == nil:
		return nil, fmt.Errorf("rendering chart %s gave no release", loaded.Name())
	}
	return shown(release, request)
}

// templateOf matches the comment with the template of a manifest.
var templateOf = lazyregexp.New(`# Source: [^/]+/(.+)`)

// shown returns the manifests of a release that a request asks for.
func shown(release *releasev1.Release, request helmchart.TemplateRequest) (*helmchart.TemplateAnswer, error) {
	var all bytes.Buffer
	fmt.Fprintln(&all, strings.TrimSpace(release.Manifest))
	for _, hook := range release.Hooks {
		if !request.NoHooks {
			fmt.Fprintf(&all, "---\n# Source: %s\n%s\n", hook.Path, hook.Manifest)
		}
	}
	if len(request.ShowOnly) == 0 {
		return &helmchart.TemplateAnswer{Manifests: all.String()}, nil
	}
	documents := releaseutil.SplitManifests(all.String())
	order := sortedKeys(documents)
	sort.Sort(releaseutil.BySplitManifestsOrder(order))
	var some strings.Builder
	for _, pattern := range request.ShowOnly {
		var found []string
		for _, key := range order {
			if m := templateOf.FindStringSubmatch(documents[key]); m != nil {
				if ok, err := path.Match(pattern, strings.TrimSpace(m[1])); err != nil {
					return nil, fmt.Errorf("--show-only %q: %w", pattern, err)
				} else if ok {
					found = append(found, documents[key])
				}
			}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("--show-only %q: no template of the chart with that path renders an object", pattern)
		}
		for document := range slices.Values(found) {
			fmt.Fprintf(&some, "---\n%s\n", document)
		}
	}
	return &helmchart.TemplateAnswer{Manifests: some.String()}, nil
}
