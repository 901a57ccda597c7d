package runtimekinds

import (
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// CheckScope returns a finding if a CRD that the user writes makes a kind namespaced that has a target namespace in watches.yaml.
func CheckScope(name string, crd []byte) (notes diag.Findings) {
	objects, _ := manifest.Decode(name, crd) // kustomize reports the findings
	for _, o := range objects {
		if manifest.TextAt(o.Fields, "spec", "scope") == "Namespaced" {
			notes.Addf(diag.Position{File: name}, "has the scope Namespaced, but targetNamespace and targetNamespaceFrom in watches.yaml are for cluster-scoped kinds; set the scope to Cluster, or remove the key")
		}
	}
	return notes
}
