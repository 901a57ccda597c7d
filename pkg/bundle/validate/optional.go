package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "github.com/operator-framework/api/pkg/validation"
	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/diag"
)

// An Optional is a validator that runs if selected.
type Optional struct {
	Name string
	// Suite is the suite of the validator, empty without one.
	Suite       string
	Description string
	// parts lists the upstream validators that it runs.
	parts []interfaces.Validator
	// categories reports whether checkCategories runs after parts.
	categories bool
	deprecated string
}

// Labels returns the labels for selectors.
func (o Optional) Labels() labels.Set {
	set := labels.Set{"name": o.Name}
	if o.Suite != "" {
		set["suite"] = o.Suite
	}
	return set
}

const suite = "operatorframework"

// Optionals returns the optional validators in the order in which they run.
func Optionals() []Optional {
	return []Optional{
		{Name: "operatorhubv2", Suite: suite, Description: "Requirements of OperatorHub.io: provider, maintainers, links, version, icon",
			parts: []interfaces.Validator{apivalidation.OperatorHubV2Validator}},
		{Name: "capabilities", Suite: suite, Description: "The capability level is one of OperatorHub.io",
			parts: []interfaces.Validator{apivalidation.StandardCapabilitiesValidator}},
		{Name: "categories", Suite: suite, Description: "The categories come from OperatorHub.io, or from the file in OPERATOR_BUNDLE_CATEGORIES", categories: true},
		{Name: "operatorhub", Description: "Deprecated: operatorhubv2, capabilities and categories in one",
			parts:      []interfaces.Validator{apivalidation.OperatorHubV2Validator, apivalidation.StandardCapabilitiesValidator},
			categories: true,
			deprecated: `The "operatorhub" validator is deprecated; for equivalent validation use "operatorhubv2", "capabilities" and "categories" validators`},
		{Name: "community", Description: "Deprecated (alpha): rules of community operators about removed APIs; takes index-path",
			parts: []interfaces.Validator{apivalidation.CommunityOperatorValidator}},
		{Name: "alpha-deprecated-apis", Suite: suite, Description: "(alpha) APIs that versions of Kubernetes have removed; takes k8s-version",
			parts: []interfaces.Validator{apivalidation.AlphaDeprecatedAPIsValidator}},
		{Name: "good-practices", Suite: suite, Description: "Good practices: resource requests, descriptions, permissions, names",
			parts: []interfaces.Validator{apivalidation.GoodPracticesValidator}},
		{Name: multiarch, Description: "(alpha) Labels, node affinity and images agree on platforms; container-tools: docker (also none) or podman",
			parts: []interfaces.Validator{apivalidation.MultipleArchitecturesValidator}},
	}
}

// Selects reports whether a selector matches any optional validator.
func Selects(selector labels.Selector) bool {
	return slices.ContainsFunc(Optionals(), func(o Optional) bool { return selector.Matches(o.Labels()) })
}

// checkOptional runs the selected validators.
func (c *content) checkOptional(o Options) diag.Findings {
	if o.Selector == nil || o.Selector.Empty() {
		return nil
	}
	objects := c.api.ObjectsToValidate()
	var out diag.Findings
	for _, optional := range Optionals() {
		if !o.Selector.Matches(optional.Labels()) {
			continue
		}
		values := o.Values
		if optional.Name == multiarch {
			tool, err := containerTool(o.Values)
			if err != nil {
				out = append(out, c.convert(multiarch, apierrors.ManifestResult{Errors: []apierrors.Error{apierrors.ErrFailedValidation(err.Error(), c.api.CSV.Name)}})...)
				continue
			}
			values = tool
		}
		for _, part := range optional.parts {
			for _, result := range part.Validate(append(slices.Clip(objects), values)...) {
				out = append(out, c.convert(optional.Name, result)...)
			}
		}
		if optional.categories {
			out = append(out, c.convert(optional.Name, c.checkCategories(o))...)
		}
		if optional.deprecated != "" {
			out = append(out, c.convert(optional.Name, apierrors.ManifestResult{
				Warnings: []apierrors.Error{apierrors.WarnDeprecatedValidator(optional.deprecated)},
			})...)
		}
	}
	return out
}

// multiarch is the validator that runs a container tool.
const multiarch = "multiarch"

// containerTool removes the default tool from the values, because the library would log it.
func containerTool(values map[string]string) (map[string]string, error) {
	const key = "container-tools"
	values = maps.Clone(values)
	switch tool := strings.ToLower(values[key]); tool {
	case "", "docker", "none": // none is the default, as in operator-sdk
		delete(values, key)
	case "podman":
	default:
		return nil, fmt.Errorf("invalid value (%s) for (%s). One of: [docker, podman, none] (If not set, the default value is docker)", key, tool)
	}
	return values, nil
}

// checkCategories checks the categories against custom ones. The library would read these from the environment of the
// process.
func (c *content) checkCategories(o Options) apierrors.ManifestResult {
	var result apierrors.ManifestResult
	if o.Categories == nil && o.CategoriesErr == nil {
		for _, r := range apivalidation.StandardCategoriesValidator.Validate(c.api) {
			result.Add(r.Warnings...)
			result.Add(r.Errors...)
		}
		return result
	}
	categories, ok := c.api.CSV.Annotations["categories"]
	switch {
	case !ok:
		return result
	case o.CategoriesErr != nil:
		result.Add(apierrors.ErrInvalidCSV("could not extract custom categories: "+o.CategoriesErr.Error(), c.api.CSV.Name))
		return result
	}
	for category := range strings.SplitSeq(categories, ",") {
		if !slices.Contains(o.Categories, strings.TrimSpace(category)) {
			result.Add(apierrors.ErrInvalidCSV(fmt.Sprintf("csv.Metadata.Annotations[\"categories\"] value %q is not in the set of custom categories", category), c.api.CSV.Name))
		}
	}
	return result
}
