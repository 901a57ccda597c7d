package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/helmchart/variant"
)

// Render renders a chart with each set of values, as for the first installation of a release. The function lookup finds no
// objects, and functions of chance and time return constants. It fails if the chart cannot be loaded; values that a template rejects cause the error of their
// rendering. A rendering that exceeds the limits of time and memory is an error, too.
func Render(ctx context.Context, request helmchart.RenderRequest) (*helmchart.RenderAnswer, error) {
	return render(ctx, request, &limits{time: maxRenderTime, memory: maxRenderMemory})
}

func render(ctx context.Context, request helmchart.RenderRequest, l *limits) (*helmchart.RenderAnswer, error) {
	loaded, err := loadChart(request.Files)
	if err != nil {
		return nil, err
	}
	if err := checkInstallable(loaded); err != nil {
		return nil, err
	}
	if err := chartutil.ValidateReleaseName(request.ReleaseName); err != nil {
		return nil, fmt.Errorf("release name %q: %w", request.ReleaseName, shorten(err))
	}
	answer := &helmchart.RenderAnswer{Chart: metadata(loaded)}
	if answer.CRDs, err = crds(loaded); err != nil {
		return nil, err
	}
	if problem := kubernetesProblem(loaded.Metadata.KubeVersion); problem != "" {
		answer.Warnings = append(answer.Warnings, problem)
	}
	r := &renderer{request: request, limits: l}
	if r.capabilities, err = capabilities(kubernetesVersion, request.BuiltinOnly, answer.CRDs); err != nil {
		return nil, err
	}
	if r.externalSchema = externalReference(loaded); r.externalSchema != "" {
		answer.Warnings = append(answer.Warnings, fmt.Sprintf("the values were not validated, because the schema refers to %s", r.externalSchema))
	}
	for _, values := range request.Values {
		rendering, err := r.renderUntil(ctx, values)
		if err != nil {
			return nil, err
		}
		answer.Renderings = append(answer.Renderings, rendering)
	}
	return answer, nil
}

// kubernetesProblem returns why Helm would not install a chart with the constraint kubeVersion, or "".
func kubernetesProblem(constraint string) string {
	if constraint == "" {
		return ""
	}
	if _, err := semver.NewConstraint(constraint); err != nil {
		return fmt.Sprintf("kubeVersion %q is not a version constraint such as >=1.30.0-0, so that no cluster meets it", constraint)
	}
	if chartutil.IsCompatibleRange(constraint, kubernetesVersion) {
		return ""
	}
	return fmt.Sprintf("the chart requires Kubernetes %s; it was rendered for %s", constraint, kubernetesVersion)
}

// A renderer renders the chart of a request.
type renderer struct {
	request        helmchart.RenderRequest
	capabilities   *common.Capabilities
	externalSchema string
	limits         *limits
	// lint renders what 'helm lint' does: calls of required and fail have no effect.
	lint bool
}

// renderUntil renders the chart with a set of values. It fails if the context ends or a limit is exceeded; the goroutine of a template that
// does not end is left to the end of the process, as templates cannot be interrupted.
func (r *renderer) renderUntil(ctx context.Context, values map[string]any) (helmchart.Rendering, error) {
	done := make(chan struct{})
	var rendering helmchart.Rendering
	go func() {
		defer close(done)
		var err error
		if rendering.Objects, rendering.Warnings, err = r.render(ctx, values); err != nil {
			rendering.Objects, rendering.Error = nil, templateError(err)
		}
	}()
	if err := r.limits.wait(ctx, done); err != nil {
		return helmchart.Rendering{}, err
	}
	return rendering, nil
}

// render renders the chart with a set of values. Helm changes charts that it renders, so each rendering has its own.
func (r *renderer) render(ctx context.Context, values map[string]any) (objects []helmchart.RenderedObject, warnings []string, err error) {
	loaded, err := loadChart(r.request.Files)
	if err != nil {
		return nil, nil, err
	}
	values, err = exactNumbers(values)
	if err != nil {
		return nil, nil, err
	}
	if err := chartutil.ProcessDependencies(loaded, values); err != nil {
		return nil, nil, fmt.Errorf("dependencies: %w", err)
	}
	release := common.ReleaseOptions{Name: r.request.ReleaseName, Namespace: r.request.Namespace, Revision: 1, IsInstall: true}
	top, err := commonutil.ToRenderValuesWithSchemaValidation(loaded, values, release, r.capabilities, r.externalSchema != "")
	if invalid := err; err != nil {
		if top, err = commonutil.ToRenderValuesWithSchemaValidation(loaded, values, release, r.capabilities, true); err != nil {
			return nil, nil, fmt.Errorf("values: %w", err)
		}
		_, detail, _ := strings.Cut(invalid.Error(), "\n")
		warnings = append(warnings, "the values violate the schema of the chart: "+oneLine(detail))
	}
	// The same objects each time, and without generating keys.
	mark(loaded)
	functions := variant.First().Functions()
	functions[markName] = r.limits.enter
	rendered, err := (engine.Engine{CustomTemplateFuncs: functions, LintMode: r.lint}).RenderWithContext(ctx, loaded, top)
	if err != nil {
		return nil, nil, err
	}
	objects, more, err := splitObjects(rendered)
	return objects, append(warnings, more...), err
}

// exactNumbers returns values whose numbers are integers where they were written as integers, as in a custom resource.
// As floating-point numbers, templates would print large ones with exponents.
func exactNumbers(values map[string]any) (map[string]any, error) {
	data, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	exact := map[string]any{}
	if err := decodeExact(data, &exact); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	return exact, nil
}

// externalReference returns the first reference in the schemas of a chart and its dependencies that the validation would
// read from the network or from a file, or "".
func externalReference(c *chart.Chart) string {
	if len(c.Schema) > 0 {
		var schema any
		if json.Unmarshal(c.Schema, &schema) == nil {
			if found := externalIn(schema); found != "" {
				return found
			}
		}
	}
	for _, dependency := range c.Dependencies() {
		if found := externalReference(dependency); found != "" {
			return found
		}
	}
	return ""
}

// externalIn returns the first external reference in a JSON value, or "".
func externalIn(value any) string {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			if found := externalIn(element); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, key := range sortedKeys(value) {
			text, ok := value[key].(string)
			switch {
			case !ok:
			case strings.HasSuffix(key, "Ref") && strings.HasPrefix(key, "$") || key == "$ref":
				if text != "" && !strings.HasPrefix(text, "#") {
					return text
				}
			case key == "$schema" && !strings.Contains(text, "://json-schema.org/"):
				return text
			}
			if found := externalIn(value[key]); found != "" {
				return found
			}
		}
	}
	return ""
}

// errNotAnObject is the error of a document that is not a mapping.
var errNotAnObject = errors.New("a document is not an object")
