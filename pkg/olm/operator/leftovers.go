package operator

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// leftover is an object that OLM created for an operator and does not delete with it.
type leftover struct{ APIVersion, Kind, Namespace, Name string }

// recordName is the name of the ConfigMap with the list of leftovers during a removal: the objects from which the list is read
// are deleted first.
func (c *cleanup) recordName() string { return catalogName(c.Package) + "-cleanup" }

// leftovers returns what OLM will not delete: cluster-scoped manifests of the bundle, and the role binding for the configuration
// of authentication, which OLM creates for webhooks.
func (c *cleanup) leftovers(ctx context.Context, csvs []*kube.Object) ([]leftover, error) {
	list, err := c.recorded(ctx)
	if err != nil || len(csvs) == 0 {
		return list, err
	}
	shared, err := c.installedInOther(ctx, csvs)
	if err != nil || shared {
		return nil, err
	}
	plans, err := c.Client.List(ctx, olm.ResourceOf("installplans", "InstallPlan"), c.Namespace, nil)
	if err != nil {
		return nil, err
	}
	for _, plan := range plans {
		for _, step := range kube.ListAt(plan.Object, "status", "plan") {
			text := func(fields ...string) string { return kube.StringAt(step, fields...) }
			// A catalog of Run contains only versions of the operator, also those before an upgrade.
			own := text("resource", "sourceName") == catalogName(c.Package) && text("resource", "sourceNamespace") == c.Namespace ||
				slices.ContainsFunc(csvs, func(csv *kube.Object) bool { return csv.GetName() == text("resolving") })
			if !own {
				continue
			}
			version := text("resource", "version")
			if g := text("resource", "group"); g != "" {
				version = g + "/" + version
			}
			l := leftover{version, text("resource", "kind"), c.Namespace, text("resource", "name")}
			live, err := c.leftoverObject(ctx, l)
			if err != nil {
				return nil, err
			}
			// Objects older than the plan existed before. The step's status does not show that: after a conflict, OLM finds the
			// objects that it created itself.
			created := plan.GetCreationTimestamp()
			if live != nil && !live.GetCreationTimestamp().Time.Before(created.Time) {
				list = append(list, l)
			}
		}
	}
	for _, csv := range csvs {
		for _, fields := range [][]string{{"spec", "webhookdefinitions"}, {"spec", "apiservicedefinitions", "owned"}} {
			for _, item := range kube.ListAt(csv.Object, fields...) {
				if name := kube.StringAt(item, "deploymentName"); name != "" {
					list = append(list, leftover{"rbac.authorization.k8s.io/v1", "RoleBinding", "kube-system", name + "-service-auth-reader"})
				}
			}
		}
	}
	var own []leftover
	for _, l := range list {
		live, err := c.leftoverObject(ctx, l)
		if err != nil {
			return nil, err
		}
		if live != nil && !slices.Contains(own, l) {
			own = append(own, l)
		}
	}
	return own, c.record(ctx, own)
}

// leftoverObject returns the object if it exists, was created by OLM and has no owner.
func (c *cleanup) leftoverObject(ctx context.Context, l leftover) (*kube.Object, error) {
	if l.Kind == kube.CRDKind || l.Kind == olm.CSVKind || l.Kind == "" {
		return nil, nil
	}
	live, err := c.Client.Get(ctx, kube.Named(l.APIVersion, l.Kind, l.Namespace, l.Name))
	if err != nil || live == nil {
		return nil, err
	}
	// The label olm.owner is not sufficient: some objects with it are not deleted.
	if len(live.GetOwnerReferences()) > 0 || live.GetLabels()["olm.managed"] != "true" {
		return nil, nil
	}
	subjects, bound := kube.ValueAt(live.Object, "subjects").([]any)
	if l.Namespace != c.Namespace && bound && !slices.ContainsFunc(subjects, func(s any) bool { return kube.ValueAt(s, "namespace") == c.Namespace }) {
		return nil, nil // of the same operator in another namespace
	}
	return live, nil
}

// installedInOther reports whether the operator is installed in another namespace, too, and shares cluster-scoped objects.
func (c *cleanup) installedInOther(ctx context.Context, csvs []*kube.Object) (bool, error) {
	all, err := c.Client.ListNames(ctx, olm.ResourceOf("clusterserviceversions", olm.CSVKind), "", nil)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(all, func(o *kube.Object) bool {
		return o.GetNamespace() != c.Namespace && o.GetLabels()["olm.copiedFrom"] == "" &&
			slices.ContainsFunc(csvs, func(csv *kube.Object) bool { return csv.GetName() == o.GetName() })
	}), nil
}

// recorded returns the list of an interrupted removal.
func (c *cleanup) recorded(ctx context.Context) ([]leftover, error) {
	live, err := c.Client.Get(ctx, kube.Named("v1", "ConfigMap", c.Namespace, c.recordName()))
	if err != nil || live == nil || !isManaged(live, c.Package) {
		return nil, err
	}
	var list []leftover
	text := kube.StringAt(live.Object, "data", "leftovers")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, nil // written by another version
	}
	return list, nil
}

// record stores the list for the case of an interruption.
func (c *cleanup) record(ctx context.Context, list []leftover) error {
	if len(list) == 0 || c.DryRun {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	m := kube.Named("v1", "ConfigMap", c.Namespace, c.recordName())
	m.SetLabels(map[string]string{managerLabel: kube.Manager, packageLabel: labelValue(c.Package)})
	m.Object["data"] = map[string]any{"leftovers": string(text)}
	return kube.Retry(ctx, func() error { return c.Client.Apply(ctx, m, c.Namespace) })
}

// removeLeftovers deletes the leftovers and their record.
func (c *cleanup) removeLeftovers(ctx context.Context, list []leftover) error {
	for _, l := range list {
		live, err := c.leftoverObject(ctx, l)
		if err != nil {
			return err
		}
		if live == nil {
			continue
		}
		if err := c.remove(ctx, live); err != nil {
			return err
		}
	}
	if c.DryRun {
		return nil
	}
	return c.Client.Delete(ctx, kube.Named("v1", "ConfigMap", c.Namespace, c.recordName()), c.Namespace)
}
