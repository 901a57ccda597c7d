package validate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "github.com/operator-framework/api/pkg/validation"
	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	apimeta "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// checkContent runs the validators for all bundles.
func (c *content) checkContent() diag.Findings {
	if c.mediaType == helmType {
		return nil
	}
	var out diag.Findings
	c.api.Package = c.metadata.values[bundle.PackageLabel]
	for _, result := range apivalidation.BundleValidator.Validate(c.api) {
		for _, f := range c.convert("bundle", result) {
			// These rules are newer than operator-sdk, and OLM installs such bundles.
			if f.Rule == "related-images" || f.Rule == "release" {
				f.Severity, f.Err = diag.Warning, nil
			}
			out = append(out, f)
		}
	}
	for _, result := range apivalidation.ClusterServiceVersionValidator.Validate(c.api.CSV) {
		out = append(out, c.convert("csv", result)...)
	}
	out = append(out, c.checkObjects()...)
	// The validator sets defaults, so it gets copies; v1beta1 comes first, as in operator-sdk.
	betas := c.crdsOf("v1beta1")
	for i, crd := range c.api.V1beta1CRDs {
		for _, result := range apivalidation.CustomResourceDefinitionValidator.Validate(crd.DeepCopy()) {
			out = append(out, c.convertCRD(betas[i], result)...)
		}
	}
	stable := c.crdsOf("v1")
	for i, crd := range c.api.V1CRDs {
		for _, result := range apivalidation.CustomResourceDefinitionValidator.Validate(crd.DeepCopy()) {
			out = append(out, c.convertCRD(stable[i], result)...)
		}
	}
	return out
}

// crdsOf returns the CRDs of a version of their API.
func (c *content) crdsOf(version string) []manifest.Object {
	return slices.DeleteFunc(slices.Clone(c.crds), func(o manifest.Object) bool { return o.APIVersion() != "apiextensions.k8s.io/"+version })
}

// checkObjects checks the objects besides the CSV and the CRDs.
func (c *content) checkObjects() diag.Findings {
	var out diag.Findings
	for i, obj := range c.objects {
		if obj.Kind() == csvKind || obj.Kind() == crdKind {
			continue
		}
		u := c.api.Objects[i]
		if !bundle.IsSupported(obj.Kind()) && c.mediaType == registryType {
			fix := "remove it from the bundle, and let the operator create it if necessary"
			if obj.Kind() == "Deployment" {
				fix = "move its spec to spec.install.spec.deployments of the ClusterServiceVersion, and remove the file"
			}
			out = append(out, diag.Finding{
				Position: obj.Locate("kind"), Severity: diag.Error, Rule: "unsupported-kind", Object: describe(obj), Field: "kind",
				Problem: fmt.Sprintf("OLM does not accept the kind %s (%s) in a bundle", obj.Kind(), obj.APIVersion()), Fix: fix,
				Err: apierrors.ErrInvalidBundle("unsupported media type "+c.mediaType+" for bundle object", u.GroupVersionKind()),
			})
			continue
		}
		anyName := func(string, bool) []string { return nil }
		errs := apimeta.ValidateObjectMetaAccessor(metav1.Object(u), false, anyName, field.NewPath("metadata"))
		for _, err := range inOrder(errs) {
			finding := diag.Finding{
				Severity: diag.Error, Rule: "object-metadata", Object: describe(obj), Field: err.Field, Problem: err.ErrorBody(),
				Err: apierrors.ErrFailedValidation("error validating object: "+sdkWords(err.Error()), obj.Name()),
			}
			path := manifest.Steps(err.Field)
			// The error of a label only has the path of its map; BadValue is the key or value.
			if bad, ok := err.BadValue.(string); ok && len(path) > 0 && (path[len(path)-1] == "labels" || path[len(path)-1] == "annotations") {
				values := manifest.MapAt(obj.Fields, path...)
				for _, key := range slices.Sorted(maps.Keys(values)) {
					if key == bad || values[key] == any(bad) {
						path = append(path, key)
						finding.Field = manifest.FieldPath(path)
						break
					}
				}
			}
			finding.Position = obj.Locate(path...)
			switch {
			case err.Field == "metadata.namespace":
				finding.Problem, finding.Fix = "objects of a bundle have no namespace: OLM creates them in the operator's namespace", "remove the line"
			case err.Field == "metadata.name":
				finding.Fix = "give the object a name"
			case strings.HasPrefix(err.Field, "metadata.ownerReferences"):
				finding.Fix = "remove the owner references: OLM sets them"
			case strings.HasPrefix(err.Field, "metadata.labels"), strings.HasPrefix(err.Field, "metadata.annotations"):
				finding.Fix = "write letters, digits, '-', '_' and '.', at most 63 of them, starting and ending with a letter or digit"
			}
			out = append(out, finding)
		}
	}
	return out
}

// convertCRD converts the results of the CRD validator, which use Go names, to findings.
func (c *content) convertCRD(obj manifest.Object, result apierrors.ManifestResult) diag.Findings {
	var out diag.Findings
	for _, err := range result.Errors {
		text := strings.TrimPrefix(err.Detail, err.Field+": ")
		text = crd.WithoutGoValue(text)
		finding := diag.Finding{
			Position: obj.Locate(manifest.Steps(err.Field)...), Severity: diag.Error, Rule: "crd", Object: describe(obj), Field: err.Field, Problem: text,
		}
		value := ""
		if s, ok := err.BadValue.(string); ok {
			value = ", Value " + s
		}
		message := fmt.Sprintf("Error: Field %s%s: %s: %s", err.Field, value, err.Field, text)
		finding.Err = errors.New(message)
		switch {
		case err.Field == "spec.preserveUnknownFields" && obj.Version() == "v1beta1":
			finding.Problem = "apiextensions.k8s.io/v1beta1 keeps unknown fields unless spec.preserveUnknownFields is false, and Kubernetes 1.22 dropped the version"
			finding.Fix = "write the CRD in apiextensions.k8s.io/v1, as 'operon generate manifests' does"
		case err.Field == "spec.preserveUnknownFields":
			finding.Fix = "remove the line, and write x-kubernetes-preserve-unknown-fields: true at the schema that needs it"
		case err.Field == "metadata.name":
			finding.Fix = "name the CRD <plural>.<group>"
		case err.Field == "spec.scope":
			finding.Fix = "write Namespaced or Cluster"
		case strings.Contains(text, "storage"):
			finding.Fix = "write storage: true at one version and storage: false at all others"
		case strings.HasSuffix(err.Field, "schema"):
			finding.Fix = "give the version a schema, as 'operon generate manifests' does"
		default:
			finding.Fix = "generate the CRD with 'operon generate manifests'"
		}
		out = append(out, finding)
	}
	return out
}

// convert converts the results of a validator to findings.
func (c *content) convert(rule string, result apierrors.ManifestResult) diag.Findings {
	warnings := slices.DeleteFunc(slices.Clone(result.Warnings), func(w apierrors.Error) bool {
		return slices.ContainsFunc(result.Errors, func(e apierrors.Error) bool {
			return strings.HasSuffix(w.Detail, e.Detail) && w.Field == e.Field && len(e.Detail) > 0
		})
	})
	var out diag.Findings
	for _, group := range []struct {
		level diag.Severity
		errs  []apierrors.Error
	}{{diag.Warning, warnings}, {diag.Error, result.Errors}} {
		var findings diag.Findings
		for _, err := range group.errs {
			err.Detail = sdkWords(c.sortAPIs(err.Detail))
			finding := diag.Finding{Severity: group.level, Rule: rule, Problem: cleanDetail(err.Detail, c.csv.Name()), Err: err}
			c.locate(&finding, err)
			findings = append(findings, finding)
		}
		c.sortFindings(findings)
		out = append(out, findings...)
	}
	return out
}

// sortFindings sorts adjacent findings of one kind, whose order in the validators depends on maps.
func (c *content) sortFindings(findings diag.Findings) {
	for start := 0; start < len(findings); {
		end := start + 1
		if !slices.Contains([]string{"examples", "owned-crds", "annotation-case", "properties"}, findings[start].Rule) {
			start = end
			continue
		}
		for end < len(findings) && c.findingKind(findings[start]) == c.findingKind(findings[end]) {
			end++
		}
		slices.SortStableFunc(findings[start:end], func(a, b diag.Finding) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(sdkMessage(a), sdkMessage(b)))
		})
		start = end
	}
}

// findingKind returns a text that is equal for findings of one kind.
func (c *content) findingKind(f diag.Finding) string {
	return f.Rule + c.phrases().quoted.ReplaceAllString(f.Problem, "")
}

// sortAPIs sorts the list of a message about removed APIs, whose order is random.
func (c *content) sortAPIs(detail string) string {
	list := c.phrases().apiLists.FindString(detail)
	if strings.Count(list, "])") < 2 {
		return detail
	}
	parts := strings.Split(strings.Trim(list, ","), "]),")
	for i := range parts {
		parts[i] = strings.TrimSuffix(parts[i], "])")
	}
	slices.Sort(parts)
	end := "])"
	if strings.HasSuffix(list, ",") {
		end += "," // as the validator writes it
	}
	return strings.Replace(detail, list, strings.Join(parts, "]),")+end, 1)
}

// sdkWords converts a message of Kubernetes to the wording of the version in operator-sdk.
func sdkWords(message string) string {
	return strings.NewReplacer("must be no more than 63 bytes", "must be no more than 63 characters",
		"must be no more than 253 bytes", "must be no more than 253 characters").Replace(message)
}

// cleanDetail removes what other fields of the finding contain.
func cleanDetail(detail, csv string) string {
	detail = strings.TrimPrefix(detail, "("+csv+") ")
	detail = strings.ReplaceAll(detail, "csv.Spec.minKubeVersion is not informed", "spec.minKubeVersion is missing")
	return strings.TrimSpace(detail)
}
