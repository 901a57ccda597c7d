package release

import (
	releasev1 "helm.sh/helm/v4/pkg/release/v1"

	"github.com/operon-sdk/operon/pkg/redact"
)

// redact replaces contents of the Secrets of revisions in the text of an error: messages of the server and of patches may quote
// the fields that they are about.
func (r *Release) redact(err error, revisions ...*releasev1.Release) error {
	if err == nil {
		return nil
	}
	var secrets redact.Redactor
	for _, revision := range revisions {
		if revision == nil {
			continue
		}
		manifests := []string{revision.Manifest}
		for _, hook := range revision.Hooks {
			manifests = append(manifests, hook.Manifest)
		}
		for _, manifest := range manifests {
			objects, err := parseManifest(manifest)
			if err != nil {
				continue // not a manifest that the server has seen
			}
			for _, object := range objects {
				if object.GetKind() == "Secret" {
					secrets.AddSecret(object.Object)
				}
			}
		}
	}
	return secrets.RedactError(err)
}
