package olm

import (
	"context"

	"github.com/operon-sdk/operon/pkg/kube"
)

// The words of Row.Status. The first is the one that operator-sdk uses.
const (
	StatusInstalled = "Installed"
	StatusMissing   = "Missing"
	StatusNotReady  = "NotReady"
	StatusDeleting  = "Terminating"
	StatusLeftOut   = "LeftOut"
	StatusUnknown   = "Unknown"
)

// Row is one object of a release in a cluster. Its JSON keys are part of `olm status`.
type Row struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Kind      string `json:"kind"`
	Status    string `json:"status"`
	// Reason says what is missing, unless Status is StatusInstalled.
	Reason string `json:"reason,omitempty"`
	// Differences are what the cluster's object has otherwise than the release.
	Differences []Difference `json:"differences,omitempty"`
}

// Status is what a cluster has of a release.
type Status struct {
	Version string `json:"version"`
	// Source is what says which version it is.
	Source         string   `json:"versionSource,omitempty"`
	Contradictions []string `json:"contradictions,omitempty"`
	Namespace      string   `json:"namespace"`
	// Healthy tells that all of OLM is there and works; catalogs are not part of that.
	Healthy bool  `json:"healthy"`
	Objects []Row `json:"objects"`
}

// Examine compares a cluster with a release, customized as it was when installed as far as that is known.
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
		case s.live == nil && release.namesOnly && !essential(wanted):
			row.Status, row.Reason = StatusUnknown, "it is missing, and the installed version may have none"
			optional = true
		case s.live == nil:
			row.Status, row.Reason = StatusMissing, ""
		case s.live.GetDeletionTimestamp() != nil:
			row.Status = StatusDeleting
		case !s.Ready:
			row.Status, row.Reason = StatusNotReady, s.whole()
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

// essential tells objects that every version of OLM has.
func essential(o *kube.Object) bool {
	switch o.GetKind() {
	case "Namespace", "Deployment", CSVKind, "ServiceAccount":
		return true
	}
	return false
}

// Problems are lines about what is not as it should be; none where all is well. Catalogs are not part of that.
func (s *Status) Problems() []string {
	var lines []string
	for _, row := range s.Objects {
		if row.Kind == CatalogSourceKind {
			continue
		}
		name := kube.FullName(kube.Named("", row.Kind, row.Namespace, row.Name))
		switch row.Status {
		case StatusInstalled, StatusLeftOut, StatusUnknown:
		case StatusMissing:
			lines = append(lines, name+" is missing")
		default:
			lines = append(lines, name+": "+row.Reason)
		}
	}
	return lines
}
