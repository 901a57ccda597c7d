package action

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Rename implements Kinds. Charts do not change.
func (ChartKinds) Rename(ctx context.Context, p *Project, tree *worktree.Tree, before, after *project.Config) (*refactor.Remaining, error) {
	plan, err := p.planRenaming(tree, before, after, "", nil)
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
	remaining, err := refactor.Rename(ctx, tree, plan, p.types())
	if err != nil {
		return nil, err
	}
	tree.WriteFile(project.FileName, after.Bytes(), worktree.FileMode)
	return remaining, p.GenerateIn(ctx, tree, codegen.All)
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
	description.Part, description.Old, description.New = true, sdkDescription(k.resource), sdkDescription(now)
	crd.Old, crd.New = crds[0], crds[1]
	return append(samplePairs(before, after, k.resource, now), description, crd), nil
}

// samplePairs returns the file of the sample of a kind, and its lines that do not follow from its kind, for the old and the new names.
func samplePairs(before, after *project.Config, old, now project.Resource) []scaffold.RenderedPair {
	sample := scaffold.RenderedPair{From: scaffold.SampleFile(old), To: scaffold.SampleFile(now)}
	line := func(old, new string) scaffold.RenderedPair {
		pair := sample
		pair.Part, pair.Old, pair.New = true, old, new
		return pair
	}
	return []scaffold.RenderedPair{
		sample,
		line("name: "+strings.ToLower(old.Kind)+"-sample", "name: "+strings.ToLower(now.Kind)+"-sample"),
		line("app.kubernetes.io/name: "+before.ProjectName(), "app.kubernetes.io/name: "+after.ProjectName()),
	}
}

// sdkDescription returns the description of a kind in CRDs of operator-sdk, which has no period.
func sdkDescription(r project.Resource) string {
	return fmt.Sprintf("description: %s is the Schema for the %s API", r.Kind, r.Plural)
}
