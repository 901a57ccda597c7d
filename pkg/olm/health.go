package olm

import (
	"context"
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// state is the state of an object of a release in a cluster.
type state struct {
	kube.Health
	// live is the object in the cluster; nil if it is missing.
	live *kube.Object
	// parts are the objects that OLM creates for it.
	parts []part
}

type part struct {
	kube.Health
	wanted, live *kube.Object
}

// inspect reads the state of an object of a release.
func inspect(ctx context.Context, client *kube.Client, wanted *kube.Object) (state, error) {
	live, err := client.Get(ctx, wanted)
	if err != nil {
		return state{}, err
	}
	if live == nil {
		return state{Health: kube.Health{Reason: "is missing"}}, nil
	}
	s := state{Health: kube.HealthOf(live), live: live}
	if !s.Ready {
		return s, nil
	}
	switch wanted.GetKind() {
	case "Deployment":
		if kube.IntAt(live.Object, "spec", "replicas") == 0 {
			s.Health = kube.Health{Reason: "scaled to 0 replicas"}
		}
	case CatalogSourceKind:
		s.Health = CatalogHealth(live)
	case CSVKind:
		return s, s.packageServer(ctx, client)
	}
	return s, nil
}

// CatalogHealth returns the health of a CatalogSource as last observed by catalog-operator.
func CatalogHealth(catalog *kube.Object) kube.Health {
	last := kube.StringAt(catalog.Object, "status", "connectionState", "lastObservedState")
	switch {
	case last == "READY":
		return kube.Health{Ready: true}
	case last != "":
		return kube.Health{Reason: "its pod does not respond yet: " + last}
	}
	if message := kube.StringAt(catalog.Object, "status", "message"); message != "" {
		return kube.Health{Reason: message}
	}
	return kube.Health{Reason: "not processed by catalog-operator yet"}
}

// packageServer adds the health of what OLM creates for the packageserver's ClusterServiceVersion: a Deployment, and an API
// service, which works only once the API server reaches it.
func (s *state) packageServer(ctx context.Context, client *kube.Client) error {
	phase := kube.StringAt(s.live.Object, "status", "phase")
	s.Ready = phase == "Succeeded"
	switch {
	case s.Ready:
	case phase == "":
		s.Reason = "not processed by olm-operator yet"
	default:
		s.Reason = "its phase is " + phase
		if message := kube.StringAt(s.live.Object, "status", "message"); message != "" {
			s.Reason += ": " + message
		}
	}
	for _, wanted := range []*kube.Object{
		kube.Named("apps/v1", "Deployment", s.live.GetNamespace(), packageServer),
		kube.Named("apiregistration.k8s.io/v1", "APIService", "", packagesAPI),
	} {
		live, err := client.Get(ctx, wanted)
		if err != nil {
			return err
		}
		p := part{wanted: wanted, live: live, Health: kube.Health{Reason: "is missing"}}
		if live != nil {
			p.Health = kube.HealthOf(live)
			if different := outdatedFields(s.live, live); p.Ready && len(different) > 0 {
				p.Health = kube.Health{Reason: "not updated by olm-operator yet: " + different[0].Path + " differs"}
			}
		}
		s.parts = append(s.parts, p)
	}
	if reason := s.summary(); s.Ready && reason != "" {
		s.Health = kube.Health{Reason: reason}
	}
	return nil
}

// summary returns the reason with all parts that are not ready. The reason can name one of them already, depending on which
// olm-operator processed last.
func (s *state) summary() string {
	reason := s.Reason
	for _, p := range s.parts {
		if p.Ready || strings.Contains(reason, p.wanted.GetName()) {
			continue
		}
		if reason != "" {
			reason += "; "
		}
		reason += fmt.Sprintf("%s: %s", kube.FullName(p.wanted), p.Reason)
	}
	return reason
}

// outdatedFields returns the fields in which a Deployment differs from its ClusterServiceVersion. Right after an upgrade both
// can still be ready in the former version.
func outdatedFields(csv, deployment *kube.Object) []Difference {
	for _, item := range kube.ListAt(csv.Object, "spec", "install", "spec", "deployments") {
		if kube.ValueAt(item, "name") == deployment.GetName() {
			wanted := map[string]any{"spec": kube.ValueAt(item, "spec")}
			return Differences(wanted, deployment.Object)
		}
	}
	return nil
}

// UnmetRequirements describes the requirements of a ClusterServiceVersion that the cluster does not meet.
func UnmetRequirements(csv *kube.Object) (unmet diag.Findings) {
	list := kube.ListAt(csv.Object, "status", "requirementStatus")
	for _, item := range list {
		status := kube.StringAt(item, "status")
		if status == "" || status == "Present" || status == "Satisfied" {
			continue
		}
		kind := kube.StringAt(item, "kind")
		name := kube.StringAt(item, "name")
		message := kube.StringAt(item, "message")
		unmet = append(unmet, diag.Finding{Problem: strings.TrimRight(fmt.Sprintf("requirement %s %s is %s: %s", strings.ToLower(kind), name, status, message), ": ")})
	}
	return unmet
}
