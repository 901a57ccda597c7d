package olm

import (
	"context"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// The values of Row.Status. The first is operator-sdk's.
const (
	StatusInstalled = "Installed"
	StatusMissing   = "Missing"
	StatusNotReady  = "NotReady"
	StatusDeleting  = "Terminating"
	StatusLeftOut   = "LeftOut"
	StatusUnknown   = "Unknown"
)

// A Row describes an object of a release in a cluster. It is part of the output of olm status.
type Row struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Kind      string `json:"kind"`
	Status    string `json:"status"`
	// Reason describes what is missing, unless Status is StatusInstalled.
	Reason string `json:"reason,omitempty"`
	// Differences are the fields that differ from the release.
	Differences []Difference `json:"differences,omitempty"`
}

// Status compares a cluster with a release.
type Status struct {
	Version string `json:"version"`
	// Source is the object that states the version.
	Source         string   `json:"versionSource,omitempty"`
	Contradictions []string `json:"contradictions,omitempty"`
	Namespace      string   `json:"namespace"`
	// Healthy reports whether all objects except catalogs exist and are ready.
	Healthy bool  `json:"healthy"`
	Objects []Row `json:"objects"`
}

// Examine compares a cluster with a release, which was customized as when it was installed as far as possible.
func Examine(ctx context.Context, client *kube.Client, found *Installation, release *Release) (*Status, error) {
	status := &Status{
		Version: found.Version, Source: found.Source, Contradictions: found.Contradictions,
		Namespace: found.Namespace, Healthy: true, Objects: []Row{},
	}
	if status.Version == "" {
		status.Version = release.Version
	}
	for _, wanted := range release.All() {
		s, err := inspect(ctx, client, wanted)
		if err != nil {
			return nil, ExplainForbidden(err)
		}
		row := Row{
			Name: wanted.GetName(), Namespace: wanted.GetNamespace(), Kind: wanted.GetKind(),
			Status: StatusInstalled, Reason: s.Reason,
		}
		optional := wanted.GetKind() == CatalogSourceKind
		switch {
		case s.live == nil && optional:
			row.Status, row.Reason = StatusLeftOut, "the catalog is not installed"
		case s.live == nil && release.namesOnly && !isEssential(wanted):
			row.Status, row.Reason = StatusUnknown, "missing, but the installed version may not have it"
			optional = true
		case s.live == nil:
			row.Status, row.Reason = StatusMissing, ""
		case s.live.GetDeletionTimestamp() != nil:
			row.Status = StatusDeleting
		case !s.Ready:
			row.Status, row.Reason = StatusNotReady, s.summary()
		}
		if s.live != nil {
			row.Differences = Differences(wanted.Object, s.live.Object)
		}
		if row.Status != StatusInstalled && !optional {
			status.Healthy = false
		}
		status.Objects = append(status.Objects, row)
	}
	return status, nil
}

// isEssential reports whether all versions of OLM have an object.
func isEssential(o *kube.Object) bool {
	switch o.GetKind() {
	case "Namespace", "Deployment", CSVKind, "ServiceAccount":
		return true
	}
	return false
}

// Problems describes the unhealthy objects except catalogs, one line each.
func (s *Status) Problems() diag.Findings {
	var problems diag.Findings
	for _, row := range s.Objects {
		if row.Kind == CatalogSourceKind {
			continue
		}
		name := kube.FullName(kube.Named("", row.Kind, row.Namespace, row.Name))
		switch row.Status {
		case StatusInstalled, StatusLeftOut, StatusUnknown:
		case StatusMissing:
			problems = append(problems, diag.Finding{Object: name, Problem: "is missing"})
		default:
			problems = append(problems, diag.Finding{Object: name, Problem: row.Reason, Listed: name + ": " + row.Reason})
		}
	}
	return problems
}
