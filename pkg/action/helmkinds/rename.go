package helmkinds

import (
	"context"
	"fmt"
	"path"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/rename"
	"github.com/operon-sdk/operon/pkg/action/runtimekinds"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Rename implements Kinds. Charts do not change.
func (Kinds) Rename(ctx context.Context, p *action.Project, tree *worktree.Tree, before, after *project.Config) (*refactor.Remaining, error) {
	plan, err := rename.Plan(p, tree, before, after, "", nil)
	if err != nil {
		return nil, err
	}
	plan.NoModule = true
	kinds, err := readChartKinds(tree, before)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		for i, old := range before.Resources() {
			if old.GVK != kind.resource.GVK {
				continue
			}
			pairs, err := kind.renamed(before, after, after.Resources()[i])
			if err != nil {
				return nil, err
			}
			plan.Pairs = append(plan.Pairs, pairs...)
		}
	}
	return runtimekinds.Rename(ctx, p, tree, after, plan)
}

// renamed returns what depends on the chart of a kind, or on the program that wrote it, for the old and the new names: the CRD, and
// the lines of the sample whose values have a meaning only there. Kinds and API versions are renamed in all manifests.
func (k *chartKind) renamed(before, after *project.Config, now project.Resource) ([]scaffold.RenderedPair, error) {
	var crds []string
	for _, r := range []project.Resource{k.resource, now} {
		crd, err := helmchart.CRD(helmchart.CRDSpec{
			Group: r.QualifiedGroup(), Kind: r.Kind, Plural: r.Plural,
			Versions: []helmchart.CRDVersion{{Name: r.Version, Chart: k.Files, Open: true}},
		})
		if err != nil {
			return nil, fmt.Errorf("CRD of %s: %w", r.Kind, err)
		}
		crds = append(crds, string(crd))
	}
	crd := scaffold.RenderedPair{From: path.Join(project.CRDBasesDir, k.resource.CRDFile()), To: path.Join(project.CRDBasesDir, now.CRDFile())}
	description := crd
	description.Part, description.Old, description.New = true, runtimekinds.SDKDescription(k.resource), runtimekinds.SDKDescription(now)
	crd.Old, crd.New = crds[0], crds[1]
	return append(runtimekinds.SamplePairs(before, after, k.resource, now), description, crd), nil
}
