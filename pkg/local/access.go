package local

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
)

// grant gives the manager the permissions of config/default in an embedded control plane, and updates them after changes.
func (r *runner) grant(ctx context.Context) error {
	if r.plane == nil || r.o.AsAdmin {
		return nil
	}
	if !isFile(filepath.Join(r.o.Root, filepath.FromSlash(project.DefaultKustomization))) {
		if !r.running {
			r.progressf("there is no %s: the manager runs as an administrator, and missing permissions don't show", project.DefaultKustomization)
		}
		return nil
	}
	const remedy = "correct the manifests, or use --as-admin to run without them"
	objects, err := r.manifests().readDir(project.DefaultDir)
	if err != nil {
		return diag.Explain(err, remedy)
	}
	permissions, err := stage.PermissionsOf(objects, r.namespace)
	if err != nil {
		return diag.Explain(fmt.Errorf("%s: %w", project.DefaultDir, err), remedy)
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
	r.progressf("the manager runs as %s/%s, with the permissions of %s", permissions.Namespace, permissions.ServiceAccount, project.DefaultDir)
	return nil
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
