package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// A comparison is the result of comparing a revision with renderings of the chart and the values.
type comparison struct {
	// changed are the fields that require an upgrade.
	changed fields
	// random are fields that differ between renderings. kept are those of them whose content an upgrade keeps.
	random, kept fields
	// base is the view of the revision.
	base *view
}

// compare renders in the situation of a revision. The cluster is read only if that is required, or if templates that call the
// lookup function differ without it.
func (r *Release) compare(ctx context.Context, revisions []*releasev1.Release, revision *releasev1.Release) (*comparison, error) {
	base, err := r.view(revision.Manifest)
	if err != nil {
		return nil, err
	}
	s := situationOf(revisions, revision)
	cluster := r.options.DryRun == "server"
	first, err := r.renderVariant(ctx, s, false, cluster)
	if err != nil {
		return nil, err
	}
	if first.lookedUp && !cluster && len(differences(base, first.view)) > 0 {
		cluster = true
		if first, err = r.renderVariant(ctx, s, false, cluster); err != nil {
			return nil, err
		}
	}
	c := &comparison{base: base, changed: differences(base, first.view)}
	if len(c.changed) == 0 || !first.random {
		return c, nil
	}
	second, err := r.renderVariant(ctx, s, true, cluster)
	if err != nil {
		return nil, err
	}
	alignNames(base, first.view, second.view)
	c.random = differences(first.view, second.view)
	c.changed = slices.DeleteFunc(differences(base, first.view), c.random.cover)
	c.judge(first.view, second.view, r.fingerprints[revision.Version])
	return c, nil
}

// judge divides the random fields into those that are kept and those that are changed: because the revision does not have them,
// or because what they are made of has changed since the fingerprints were taken. Without fingerprints, as in releases made by
// others, it has not.
func (c *comparison) judge(first, second *view, fingerprints map[string]string) {
	for _, f := range c.random {
		_, inBase := c.base.value(f)
		_, inFirst := first.value(f)
		_, inSecond := second.value(f)
		switch recorded, ok := fingerprints[first.original(f).String()]; {
		case inFirst && inSecond && !inBase,
			ok && recorded != fingerprint(first, f):
			c.changed = append(c.changed, f)
		case inBase && len(f.path) > 0:
			c.kept = append(c.kept, f)
		}
	}
}

// original returns a field under the key that its object had before alignNames.
func (v *view) original(f field) field {
	if k, ok := v.renamed[f.key]; ok {
		f.key = k
	}
	return f
}

// fingerprint returns a hash of the content of a field in the first variant. As the variant replaces chance and time by functions of
// their arguments, it changes only if the templates or the values do.
func fingerprint(first *view, f field) string {
	value, ok := first.value(f)
	if !ok {
		return "absent"
	}
	data, err := json.Marshal(value)
	if err != nil {
		return "invalid" // not possible for content that was parsed from JSON
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// A variantView is the view of a variant.
type variantView struct {
	*view
	// random and lookedUp report whether templates called functions of chance or time, and the lookup function.
	random, lookedUp bool
}

// renderVariant renders one of the variants, in which lookup reads the cluster or finds nothing.
func (r *Release) renderVariant(ctx context.Context, s situation, second, cluster bool) (*variantView, error) {
	variant, calls := newVariant(second), &lookups{}
	if cluster {
		calls.lookup = r.clusterLookup()
	}
	functions := variant.functions()
	functions["lookup"] = calls.function
	rendered, err := r.render(ctx, s, functions)
	if err != nil {
		return nil, err
	}
	v, err := r.view(rendered.Manifest)
	if err != nil {
		return nil, err
	}
	return &variantView{v, variant.used, calls.called}, nil
}
