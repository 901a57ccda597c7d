package release

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/util/csaupgrade"
	"k8s.io/client-go/util/retry"
)

// ensureCRDs creates or updates the objects of the crds directory, as Options.CRDs says. It returns those that it has changed.
func (r *Release) ensureCRDs(ctx context.Context) ([]changedCRD, error) {
	r.crdReports = nil
	if r.options.CRDs == CRDsSkip {
		return nil, nil
	}
	crds, err := r.chartCRDs()
	if err != nil {
		return nil, err
	}
	var changed []changedCRD
	for _, crd := range crds {
		var done *changedCRD
		if isCRD(crd.gvk) && r.options.CRDs == CRDsCreateReplace {
			done, err = r.replaceCRD(ctx, crd)
		} else {
			done, err = r.createCRD(ctx, crd)
		}
		if err != nil {
			return nil, r.errorf("%s: %w", crd.filename, err)
		}
		if done != nil {
			changed = append(changed, *done)
		}
	}
	return changed, nil
}

// crdInfo returns an object of the crds directory, as it is applied.
func (r *Release) crdInfo(crd chartCRD) (*resource.Info, error) {
	object, err := crd.object()
	if err != nil {
		return nil, err
	}
	return r.info(object)
}

// createCRD creates an object if it does not exist.
func (r *Release) createCRD(ctx context.Context, crd chartCRD) (*changedCRD, error) {
	info, err := r.crdInfo(crd)
	if err != nil {
		return nil, err
	}
	if _, err := r.get(ctx, info); !isMissing(err) {
		if err != nil {
			return nil, &CRDError{Name: info.Name, err: err}
		}
		return nil, nil
	}
	if _, err := r.create(ctx, info); err != nil && !apierrors.IsAlreadyExists(err) { // another pass may have created it
		return nil, &CRDError{Name: info.Name, err: err}
	}
	return &changedCRD{info, true}, nil
}

// replaceCRD creates a CRD, or updates it if it differs and may be updated.
func (r *Release) replaceCRD(ctx context.Context, crd chartCRD) (*changedCRD, error) {
	k := crdKey{r.owner.gvk.GroupKind(), crd.name, crd.digest}
	states := &r.factory.crds
	if state, ok := states.get(k); ok && r.isCurrent(crd, state) {
		r.reportCRD(state.report)
		return nil, nil
	}
	states.apply.Lock()
	defer states.apply.Unlock()
	states.forget(k)
	info, err := r.crdInfo(crd)
	if err != nil {
		return nil, err
	}
	live, err := r.get(ctx, info)
	if isMissing(err) {
		return r.restoreCRD(ctx, info, k, crd)
	}
	if err != nil {
		return nil, &CRDError{Name: crd.name, err: err}
	}
	if live.GetDeletionTimestamp() != nil {
		return nil, nil // it is created again when it no longer exists
	}
	if r.isOwned(live) { // it is in the templates, too
		states.verify(k, live, nil)
		return nil, nil
	}
	return r.updateCRD(ctx, info, live, k, crd)
}

// isCurrent reports whether a CRD is observed as it was when nothing was to be done. One that cannot be observed is for a while.
func (r *Release) isCurrent(crd chartCRD, state verifiedCRD) bool {
	if r.options.Observer != nil {
		metadata, known := r.options.Observer.Observe(crd.gvk, types.NamespacedName{Name: crd.name})
		if known {
			return metadata != nil && liveHash(metadata) == state.live
		}
	}
	return time.Since(state.at) < crdAge
}

// restoreCRD creates a CRD.
func (r *Release) restoreCRD(ctx context.Context, info *resource.Info, k crdKey, crd chartCRD) (*changedCRD, error) {
	object := info.Object.(*unstructured.Unstructured)
	annotate(object, r.marks(crd))
	created, err := r.create(ctx, info)
	if err != nil {
		return nil, &CRDError{Name: crd.name, err: err}
	}
	r.factory.crds.wrote(crd.name, crd.digest)
	r.factory.crds.verify(k, created, nil)
	return &changedCRD{info, true}, nil
}

// updateCRD updates a CRD if it differs from the chart's.
func (r *Release) updateCRD(ctx context.Context, info *resource.Info, live *unstructured.Unstructured, k crdKey, crd chartCRD) (*changedCRD, error) {
	wanted := info.Object.(*unstructured.Unstructured)
	keepBundle(wanted, live)
	lost := lostVersions(live, wanted)
	if len(lost) == 0 { // otherwise the server refuses it
		merged, err := r.applyCRD(ctx, info, true)
		if apierrors.IsForbidden(err) {
			r.leaveCRD(k, live, "can't be compared with the chart's and updated: "+err.Error()+"; run operon generate and deploy the operator's role, or set crds: create in watches.yaml")
			return nil, nil
		}
		if err != nil {
			return nil, &CRDError{Name: crd.name, err: err}
		}
		if sameCRD(live, merged) {
			r.factory.crds.verify(k, live, nil)
			return nil, nil
		}
	}
	if problem := r.foreignCRD(crd, live); problem != "" {
		r.leaveCRD(k, live, problem)
		return nil, nil
	}
	if len(lost) > 0 {
		return nil, &CRDError{Name: crd.name, Lost: lost}
	}
	if err := r.takeFields(ctx, info, live); err != nil {
		return nil, &CRDError{Name: crd.name, err: err}
	}
	annotate(wanted, r.marks(crd))
	applied, err := r.applyCRD(ctx, info, false)
	if err != nil {
		return nil, &CRDError{Name: crd.name, err: err}
	}
	r.factory.crds.wrote(crd.name, crd.digest)
	r.factory.crds.verify(k, applied, nil)
	return &changedCRD{info, false}, nil
}

// leaveCRD reports a CRD that is left as it is.
func (r *Release) leaveCRD(k crdKey, live *unstructured.Unstructured, problem string) {
	report := &CRDReport{k.name, problem}
	r.factory.crds.verify(k, live, report)
	r.reportCRD(report)
}

func (r *Release) reportCRD(report *CRDReport) {
	if report != nil {
		r.crdReports = append(r.crdReports, *report)
	}
}

// applyCRD applies a CRD by the server, which keeps the fields of others, or returns the result of a dry run.
func (r *Release) applyCRD(ctx context.Context, info *resource.Info, dry bool) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(info.Object)
	if err != nil {
		return nil, err
	}
	applied := &unstructured.Unstructured{}
	send := request(restClient(info).Patch(types.ApplyPatchType), info, true).Param("fieldManager", FieldManager).Param("force", "true").Body(data)
	if dry {
		send = send.Param("dryRun", dryRun)
	}
	return applied, send.Do(ctx).Into(applied)
}

// takeFields hands over fields that Helm or this operator created without server-side apply to server-side apply. Otherwise fields
// that the chart no longer has would remain.
func (r *Release) takeFields(ctx context.Context, info *resource.Info, live *unstructured.Unstructured) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error { // the status changes at the same time
		patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(FieldManager, "helm"), FieldManager)
		if err != nil || patch == nil {
			return err
		}
		if _, err = r.patch(ctx, info, types.JSONPatchType, patch, false); apierrors.IsConflict(err) {
			if current, getErr := r.get(ctx, info); getErr == nil {
				live = current
			}
		}
		return err
	})
}

// sameCRD compares what a CRD says, without the marks of its chart.
func sameCRD(a, b *unstructured.Unstructured) bool {
	content := func(crd *unstructured.Unstructured) []any {
		annotations := map[string]string{}
		for name, value := range crd.GetAnnotations() {
			annotations[name] = value
		}
		for _, name := range crdAnnotations {
			delete(annotations, name)
		}
		labels := crd.GetLabels()
		if len(labels) == 0 {
			labels = nil
		}
		return []any{crd.Object["spec"], labels, annotations}
	}
	return reflect.DeepEqual(content(a), content(b))
}

// keepBundle keeps the CA bundle of the conversion webhook that others have injected into the CRD in the cluster. The chart's, if it has
// one, is a placeholder then.
func keepBundle(wanted, live *unstructured.Unstructured) {
	config := []string{"spec", "conversion", "webhook", "clientConfig"}
	bundle := append(slices.Clone(config), "caBundle")
	injected, _, _ := unstructured.NestedString(live.Object, bundle...)
	if _, ok, _ := unstructured.NestedMap(wanted.Object, config...); !ok || injected == "" {
		return
	}
	own, _, _ := unstructured.NestedString(wanted.Object, bundle...)
	decoded, err := base64.StdEncoding.DecodeString(own)
	if err == nil && len(strings.TrimSpace(string(decoded))) > 0 && !isInjected(wanted) && !isInjected(live) {
		return
	}
	_ = unstructured.SetNestedField(wanted.Object, injected, bundle...) // the parent is a map
}

// isInjected reports whether an annotation of a CRD asks for a CA bundle.
func isInjected(crd *unstructured.Unstructured) bool {
	for name := range crd.GetAnnotations() {
		if strings.HasPrefix(name, "cert-manager.io/inject-") || strings.HasSuffix(name, "/inject-cabundle") {
			return true
		}
	}
	return false
}

func annotate(object *unstructured.Unstructured, values map[string]string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	for name, value := range values {
		annotations[name] = value
	}
	object.SetAnnotations(annotations)
}
