package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/operon-sdk/operon/pkg/helmchart/variant"
)

// A comparison is the result of comparing a revision with renderings of the chart and the values.
type comparison struct {
	// changed and changedHooks are the fields of objects and hooks that require an upgrade.
	changed, changedHooks fields
	// random are fields that differ between renderings. An upgrade keeps the content of some of them: kept.
	random, kept fields
	// retained are objects of the revision that templates only leave out because lookup finds them.
	retained []key
	// base is the view of the revision.
	base *view
	// lookedUp reports whether templates called the lookup function.
	lookedUp bool
}

// compare renders in the situation of a revision. The cluster is read only if that is required, or if templates that call the
// lookup function differ or fail without it.
func (r *Release) compare(ctx context.Context, of *state, cluster bool) (*comparison, error) {
	base, err := r.view(of.revision.Manifest)
	if err != nil {
		return nil, err
	}
	baseHooks, err := r.hookView(of.revision.Hooks)
	if err != nil {
		return nil, err
	}
	s := of.situation
	first, err := r.renderVariant(ctx, s, false, readCluster(cluster))
	// Charts fail in upgrades if lookup does not find the passwords of the release.
	if !cluster && first.lookedUp && (err != nil || len(differences(base, first.view)) > 0 || len(differences(baseHooks, first.hooks)) > 0) {
		cluster = true
		first, err = r.renderVariant(ctx, s, false, readCluster(cluster))
	}
	if err != nil {
		return nil, err
	}
	c := &comparison{base: base, lookedUp: first.lookedUp}
	if first.lookedUp && cluster {
		if err := r.retain(ctx, s, c, first.view); err != nil {
			return nil, err
		}
	}
	c.changed, c.changedHooks = differences(base, first.view), differences(baseHooks, first.hooks)
	if len(c.changed) == 0 && len(c.changedHooks) == 0 || !first.random {
		return c, nil
	}
	second, err := r.renderVariant(ctx, s, true, readCluster(cluster))
	if err != nil {
		return nil, err
	}
	second.retain(c)
	alignNames(base, first.view, second.view)
	c.random = differences(first.view, second.view)
	c.changed = slices.DeleteFunc(differences(base, first.view), c.random.cover)
	c.judge(first.view, second.view, of.fingerprints)
	c.compareHooks(baseHooks, first.hooks, second.hooks, of.fingerprints)
	return c, nil
}

// retain finds objects that templates render only if lookup does not find them, and adds them to the view. Otherwise the object
// would be deleted by one upgrade and created by the next one.
func (r *Release) retain(ctx context.Context, s situation, c *comparison, first *view) error {
	var missing []key
	for _, k := range c.base.keys {
		if _, ok := first.objects[k]; !ok {
			missing = append(missing, k)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	hidden, err := r.renderVariant(ctx, s, false, lookupMode{cluster: true, hide: c.base})
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return nil // templates that require the objects do not render them only if they are missing
	}
	for _, k := range missing {
		if _, ok := hidden.objects[k]; ok {
			c.retained = append(c.retained, k)
		}
	}
	first.retain(c)
	return nil
}

func (v *view) retain(c *comparison) {
	for _, k := range c.retained {
		if _, ok := v.objects[k]; !ok {
			v.add(k, manifestObject{c.base.objects[k].DeepCopy(), c.base.sources[k]})
		}
	}
}

// judge decides which random fields are kept. The others are changed: the revision does not have them, or what they are made of has
// changed since the fingerprints were taken. Without fingerprints, as in releases made by others, it has not.
func (c *comparison) judge(first, second *view, fingerprints map[string]string) {
	for _, f := range c.random {
		_, inBase := c.base.value(f)
		_, inFirst := first.value(f)
		_, inSecond := second.value(f)
		switch {
		case inFirst && inSecond && !inBase, hasOtherInputs(fingerprints, "", first, f):
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

// The suffixes mark fingerprints of renderings in which lookup finds the objects of the revision, and in which it finds none of them.
const (
	foundSuffix  = " (found)"
	hiddenSuffix = " (hidden)"
)

// takeFingerprints adds the fingerprints of the random fields of two variants. The suffix says which rendering they are of.
func takeFingerprints(fingerprints map[string]string, first, second *variantView, suffix string) (random, randomHooks fields) {
	alignNames(first.view, first.view, second.view)
	alignNames(first.hooks, first.hooks, second.hooks)
	random, randomHooks = differences(first.view, second.view), differences(first.hooks, second.hooks)
	for _, f := range random {
		fingerprints[f.String()+suffix] = fingerprint(first.view, f)
	}
	for _, f := range randomHooks {
		fingerprints[hookPrefix+f.String()+suffix] = fingerprint(first.hooks, f)
	}
	return random, randomHooks
}

// hasOtherInputs reports whether a random field has a fingerprint that it did not have when the revision was made, neither before nor
// after its objects existed.
func hasOtherInputs(fingerprints map[string]string, prefix string, first *view, f field) bool {
	name, now := prefix+first.original(f).String(), fingerprint(first, f)
	known := false
	for _, suffix := range []string{"", foundSuffix, hiddenSuffix} {
		made, ok := fingerprints[name+suffix]
		if ok && made == now {
			return false
		}
		known = known || ok
	}
	return known
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
	hooks *view
	// random and lookedUp report whether templates called functions of chance or time, and the lookup function.
	random, lookedUp bool
}

// A lookupMode is what the lookup function of templates finds.
type lookupMode struct {
	// cluster makes it read the cluster. Otherwise it finds nothing, as in Helm without cluster.
	cluster bool
	// hide contains objects that are not found by their name. It may be nil.
	hide *view
	// applied contains objects that are found by their name as if they were applied to the cluster. It may be nil.
	applied *view
}

func readCluster(cluster bool) lookupMode { return lookupMode{cluster: cluster} }

// renderVariant renders one of the variants. If the templates fail, it returns only which functions they called.
func (r *Release) renderVariant(ctx context.Context, s situation, second bool, mode lookupMode) (*variantView, error) {
	rendering, calls := variant.First(), &lookups{release: r, mode: mode}
	if second {
		rendering = variant.Second()
	}
	functions := rendering.Functions()
	functions["lookup"] = calls.function
	rendered, err := r.render(ctx, s, functions)
	if err != nil {
		return &variantView{nil, nil, rendering.Used(), calls.called}, err
	}
	v, err := r.view(rendered.Manifest)
	if err != nil {
		return &variantView{nil, nil, rendering.Used(), calls.called}, err
	}
	hooks, err := r.hookView(rendered.Hooks)
	return &variantView{v, hooks, rendering.Used(), calls.called}, err
}
