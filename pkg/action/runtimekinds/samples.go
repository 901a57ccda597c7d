package runtimekinds

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// SamplePairs returns the file of the sample of a kind, and its lines that do not follow from its kind, for the old and the new names.
func SamplePairs(before, after *project.Config, old, now project.Resource) []scaffold.RenderedPair {
	sample := scaffold.RenderedPair{From: scaffold.SampleFile(old), To: scaffold.SampleFile(now)}
	line := func(old, new string) scaffold.RenderedPair {
		pair := sample
		pair.Part, pair.Old, pair.New = true, old, new
		return pair
	}
	return []scaffold.RenderedPair{
		sample,
		line("name: "+strings.ToLower(old.Kind)+"-sample", "name: "+strings.ToLower(now.Kind)+"-sample"),
		line("app.kubernetes.io/name: "+before.ProjectName(), "app.kubernetes.io/name: "+after.ProjectName()),
	}
}

// SDKDescription returns the description of a kind in CRDs of operator-sdk, which has no period.
func SDKDescription(r project.Resource) string {
	return fmt.Sprintf("description: %s is the Schema for the %s API", r.Kind, r.Plural)
}
