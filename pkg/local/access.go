package local

import (
	"context"
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
)

// grant gives the manager the permissions of config/default in an embedded control plane, and updates them after changes.
func (r *runner) grant(ctx context.Context) error {
	if r.plane == nil || r.o.AsAdmin || r.o.NoManager {
		return nil
	}
	remedy := "correct the manifests, or use --as-admin to run without them"
	if r.o.Drive != nil { // its commands have no such flag
		remedy = "correct the manifests"
	}
	permissions, err := r.permissions()
	if err != nil {
		return diag.Explain(err, remedy)
	}
	if permissions == nil {
		if !r.running {
			r.progressf("there is no %s: the manager runs as an administrator, and missing permissions don't show", project.DefaultKustomization)
		}
		return nil
	}
	if r.access != nil {
		if err := r.access.Update(ctx, permissions); err != nil {
			return diag.Explain(err, remedy)
		}
		return nil
	}
	r.access, err = stage.NewAccess(ctx, stage.AccessOptions{
		Client: r.cluster, URL: r.plane.URL, CAData: r.plane.CAData, Permissions: permissions, Dir: r.workspace.Path, Record: r.record,
	})
	if err != nil {
		return diag.Explain(err, remedy)
	}
	if err := r.provide(ctx); err != nil {
		return err
	}
	r.progressf("the manager runs as %s/%s, with the permissions of %s", permissions.Namespace, permissions.ServiceAccount, r.source().name())
	return nil
}

// provide applies the other objects of Options.Manifests, without objects of unknown kinds, such as certificates and monitors.
func (r *runner) provide(ctx context.Context) error {
	var unknown []string
	for _, o := range givenManifests(r.o.Manifests).supporting() {
		err := r.cluster.Apply(ctx, o, r.access.Permissions().Namespace)
		if kube.IsNotFound(err) {
			unknown = append(unknown, kube.Name(o))
		} else if err != nil {
			return fmt.Errorf("applying %s: %w", kube.Name(o), err)
		}
	}
	if len(unknown) > 0 {
		r.progressf("left out, since nothing defines their kinds: %s", strings.Join(unknown, ", "))
	}
	return nil
}

// permissions returns the permissions of the manager, or nil if it has no manifests. A project's are moved to the namespace of the run, which
// its manager watches; other operators stay where their manifests put them.
func (r *runner) permissions() (*stage.Permissions, error) {
	objects, err := r.source().deployed()
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	namespace := r.namespace
	if r.isGiven() {
		namespace = ""
	}
	permissions, err := stage.PermissionsOf(objects, namespace)
	if err == nil && r.isGiven() && !permissions.Granted() {
		err = fmt.Errorf("no binding of a role names the service account %s/%s", permissions.Namespace, permissions.ServiceAccount)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.source().name(), err)
	}
	return permissions, nil
}

// record reports a request of the manager that was denied, once, and keeps requests for Options.Drive.
func (r *runner) record(request gateway.Record) {
	denial, denied := stage.DenialOf(request)
	r.recording.Lock()
	defer r.recording.Unlock()
	if denied && r.denials.Add(denial) {
		r.o.Denied(denial)
	}
	if r.o.Drive != nil {
		r.requests = append(r.requests, request)
	}
}

// reportDenials reports which permissions were missing.
func (r *runner) reportDenials() {
	r.recording.Lock()
	defer r.recording.Unlock()
	list := r.denials.List()
	if len(list) == 0 {
		return
	}
	texts := make([]string, len(list))
	for i, denial := range list {
		texts[i] = denial.String()
	}
	r.progressf("the manager lacked permissions: %s", strings.Join(texts, "; "))
}
