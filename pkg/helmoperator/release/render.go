package release

import (
	"context"
	"io"
	"maps"
	"slices"
	"text/template"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	kubefake "helm.sh/helm/v4/pkg/kube/fake"
	helmrelease "helm.sh/helm/v4/pkg/release"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
)

// A situation is what templates find in .Release. A revision is compared with a rendering in its own situation, so that
// templates that use .Release.Revision or .Release.IsInstall do not differ.
type situation struct {
	revision int
	install  bool
}

// installDescription is Helm's description of a revision that was installed, not upgraded.
const installDescription = "Install complete"

// situationOf returns the situation that a revision was rendered in. A rollback copies an earlier one.
func situationOf(revisions []*releasev1.Release, revision *releasev1.Release) situation {
	for range revisions {
		source := revision.Info.RollbackRevision
		i := slices.IndexFunc(revisions, func(r *releasev1.Release) bool { return r.Version == source })
		if source == 0 || source >= revision.Version {
			break
		}
		if i < 0 {
			return situation{revision: source, install: source == 1}
		}
		revision = revisions[i]
	}
	if revision.Version == 1 || revision.Info.Description == installDescription {
		return situation{revision: 1, install: true} // Helm installs as revision 1 even if earlier ones are stored
	}
	return situation{revision: revision.Version}
}

// render renders the chart with Helm's actions, without access to the cluster except through functions.
func (r *Release) render(ctx context.Context, s situation, functions template.FuncMap) (*releasev1.Release, error) {
	if r.options.Chart == nil {
		return nil, r.errorf("the chart is required")
	}
	configuration, err := r.configuration(&kubefake.PrintingKubeClient{Out: io.Discard}, nil)
	if err != nil {
		return nil, err
	}
	configuration.CustomTemplateFuncs = functions
	memory := driver.NewMemory()
	memory.SetNamespace(r.namespace)
	configuration.Releases = storage.Init(memory)
	chart, values := copyChart(r.options.Chart), copyMap(r.options.Values)

	var rendered helmrelease.Releaser
	if s.install {
		// The client is a dummy. Unlike a dry run by the client, that by the server uses the real capabilities.
		install := r.newInstall(configuration)
		install.DryRunStrategy = action.DryRunServer
		rendered, err = install.RunWithContext(ctx, chart, values)
	} else {
		previous := &releasev1.Release{
			Name: r.name, Namespace: r.namespace, Version: s.revision - 1, Chart: chart,
			Info: &releasev1.Info{Status: rcommon.StatusDeployed},
		}
		if err := configuration.Releases.Create(previous); err != nil {
			return nil, r.errorf("render the chart: %w", err)
		}
		upgrade := r.newUpgrade(configuration)
		upgrade.DryRunStrategy = action.DryRunServer
		rendered, err = upgrade.RunWithContext(ctx, r.name, chart, values)
	}
	if err != nil {
		return nil, r.errorf("render the chart: %w", err)
	}
	release, ok := rendered.(*releasev1.Release)
	if !ok {
		return nil, r.errorf("render the chart: unsupported release type %T", rendered)
	}
	if release.Manifest, err = r.newRewriter().apply(release.Manifest); err != nil {
		return nil, r.errorf("render the chart: %w", err)
	}
	return release, nil
}

// newInstall returns Helm's action with the settings of all installations.
func (r *Release) newInstall(configuration *action.Configuration) *action.Install {
	install := action.NewInstall(configuration)
	install.ReleaseName, install.Namespace = r.name, r.namespace
	install.ServerSideApply = false // as the peer's runtime; an upgrade keeps the method of a release
	install.SkipCRDs = true         // installCRDs installs them
	install.Timeout = r.factory.hookTimeout
	install.TakeOwnership = r.options.TakeOwnership == OwnershipEnabled // of what adopt accepts
	return install
}

// newUpgrade returns Helm's action with the settings of all upgrades.
func (r *Release) newUpgrade(configuration *action.Configuration) *action.Upgrade {
	upgrade := action.NewUpgrade(configuration)
	upgrade.Namespace = r.namespace
	upgrade.ResetValues = true // otherwise empty values stand for the values of the last revision
	upgrade.MaxHistory = 0     // prune deletes old records
	upgrade.Timeout = r.factory.hookTimeout
	upgrade.TakeOwnership = r.options.TakeOwnership == OwnershipEnabled
	return upgrade
}

// copyChart returns a chart that Helm may change: it removes disabled subcharts and imports values.
func copyChart(chart *chartv2.Chart) *chartv2.Chart {
	copied := &chartv2.Chart{
		Raw: chart.Raw, Lock: chart.Lock, Templates: chart.Templates, Values: copyMap(chart.Values), Schema: chart.Schema,
		SchemaModTime: chart.SchemaModTime, Files: chart.Files, ModTime: chart.ModTime,
	}
	if chart.Metadata != nil {
		metadata := *chart.Metadata
		metadata.Dependencies = make([]*chartv2.Dependency, len(chart.Metadata.Dependencies))
		for i, dependency := range chart.Metadata.Dependencies {
			if dependency != nil {
				copied := *dependency
				copied.ImportValues = slices.Clone(dependency.ImportValues)
				metadata.Dependencies[i] = &copied
			}
		}
		metadata.Annotations = maps.Clone(chart.Metadata.Annotations)
		copied.Metadata = &metadata
	}
	for _, dependency := range chart.Dependencies() {
		copied.AddDependency(copyChart(dependency))
	}
	return copied
}

func copyMap(values map[string]any) map[string]any {
	copied := make(map[string]any, len(values))
	for name, value := range values {
		copied[name] = copyValue(value)
	}
	return copied
}

func copyValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return value
		}
		return copyMap(value)
	case common.Values:
		return copyMap(value)
	case []any:
		copied := make([]any, len(value))
		for i, item := range value {
			copied[i] = copyValue(item)
		}
		return copied
	}
	return value
}
