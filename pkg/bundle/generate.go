package bundle

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

const (
	annotationCreated = "createdAt"
	annotationBuilder = "operators.operatorframework.io/builder"
	annotationLayout  = "operators.operatorframework.io/project_layout"
)

// Input is the source of a bundle.
type Input struct {
	// Package is the name of the operator's package. Version is the version of the bundle, without v; empty keeps the name
	// and version of the base.
	Package, Version string
	// Replaces is the name of the CSV that this one replaces; empty keeps the value of the base.
	Replaces string
	// Layout is the comma-separated project layout, or unknown. Builder is the name and version of this program.
	Layout, Builder string
	// Objects holds the manifests. A CSV among them is the base.
	Objects []manifest.Object
	// Base is the base CSV if Objects holds none; nil means a base with placeholders.
	Base *manifest.Object
	// Pin returns an image reference with its digest; nil keeps the references.
	Pin func(ref string) (string, error)
	// PinnedBy names in problems what asks for digests. The default is the flag --use-image-digests.
	PinnedBy string
	// ServiceAccounts lists accounts that no Deployment uses but that get their permissions in the CSV.
	ServiceAccounts []string
	// ExistingRoles lists roles that the operator's accounts are bound to and that exist in the cluster.
	ExistingRoles []string
	// Marker returns the position of the marker in Go code that a role for the operator is generated from, and false for other roles,
	// such as those for users. Nil means that none is known.
	Marker func(role manifest.Object) (diag.Position, bool)
}

// Manifests is the generated content of a bundle.
type Manifests struct {
	// CSV is the ClusterServiceVersion, without createdAt.
	CSV map[string]any
	// Name is the file name of the CSV. Files holds the other manifests by file name.
	Name  string
	Files map[string][]byte
	// Order lists the names in Files in input order.
	Order []string
	// Scorecard is the scorecard configuration, nil if the input has none.
	Scorecard []byte
	// Notes lists what a user should check.
	Notes diag.Findings
}

// A source is the object that the base CSV was decoded from, nil for placeholders.
type source struct{ *manifest.Object }

func (s source) locate(steps ...string) diag.Position {
	if s.Object == nil {
		return diag.Position{}
	}
	return s.Locate(steps...)
}

// ErrVersionRequired reports that neither Input.Version nor a base CSV gives the version of the bundle.
var ErrVersionRequired error = diag.Finding{Field: "--version", Problem: "is required, because no base CSV has a version"}

// Generate generates the manifests of a bundle. The error joins every problem of the input, as diag.Findings and
// ErrVersionRequired.
func Generate(in Input) (*Manifests, error) {
	c := collect(in.Objects)
	csv, at, err := c.base(in)
	if err != nil {
		return nil, err
	}
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	c.removeRequired(csv)
	if len(c.deployments) == 0 {
		c.reportNoDeployment()
	}
	if csv.Annotations == nil {
		csv.Annotations = map[string]string{}
	}
	if in.Pin != nil {
		c.pin(csv, cmp.Or(in.PinnedBy, "--use-image-digests"), in.Pin)
	}
	c.applyRelatedImages(csv, in.Pin != nil)
	strategy := &csv.Spec.InstallStrategy
	if strategy.StrategyName == "" {
		strategy.StrategyName = v1alpha1.InstallStrategyNameDeployment
	}
	w := c.applyWebhooks(csv)
	w.removeCertificates()
	w.removeSelfManaged()
	w.removeServices()
	if strategy.StrategyName == v1alpha1.InstallStrategyNameDeployment {
		c.applyRBAC(&strategy.StrategySpec, in)
		c.applyDeployments(&strategy.StrategySpec)
	}
	c.applyDefinitions(csv, at)
	if err := c.applyExamples(csv); err != nil {
		return nil, err
	}
	if len(c.problems) == 0 {
		c.validateCSV(csv, at)
	}
	if problems := slices.Concat(c.problems, c.missingRoles, c.unavailable); len(problems) > 0 {
		return nil, problems
	}
	delete(csv.Annotations, annotationCreated)
	csv.Annotations[annotationBuilder] = in.Builder
	csv.Annotations[annotationLayout] = in.Layout
	out := &Manifests{Name: CSVFile(in.Package)}
	if out.CSV, err = csvFields(csv); err != nil {
		return nil, err
	}
	if err := c.writeFiles(out); err != nil {
		return nil, err
	}
	out.Notes = c.notes
	return out, nil
}

// CSVFile returns the file name of a package's CSV.
func CSVFile(pkg string) string { return strings.ToLower(pkg) + ".clusterserviceversion.yaml" }

// BaseFile returns the path of the base CSV in a kustomize directory.
func BaseFile(kustomizeDir, pkg string) string {
	return path.Join(kustomizeDir, "bases", pkg+".clusterserviceversion.yaml")
}

// base returns the base CSV with the name and version of the bundle.
func (c *collection) base(in Input) (*v1alpha1.ClusterServiceVersion, source, error) {
	if in.Base != nil && len(c.csvs) == 0 {
		decode(c, &c.csvs, *in.Base)
	}
	csv, at := &v1alpha1.ClusterServiceVersion{}, source{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(base.NewCSV(in.Package), csv); err != nil {
		return nil, at, fmt.Errorf("creating a base CSV for %s: %w", in.Package, err)
	}
	switch {
	case len(c.csvs) > 1:
		places := make([]string, len(c.csvs))
		for i, other := range c.csvs {
			places[i] = fmt.Sprintf("%s at %s", other.Name(), other.Position)
		}
		c.problems.Addf(c.csvs[1].Position, "the input has %d ClusterServiceVersions (%s); a bundle has one, remove the others", len(places), strings.Join(places, ", "))
	case len(c.csvs) == 1:
		given := c.csvs[0]
		if !strings.HasPrefix(given.Name(), in.Package+".") {
			c.problems.Addf(given.Locate("metadata", "name"), "the base CSV is named %s, which does not start with %s.; rename it, or set its package with --package", given.Name(), in.Package)
			break
		}
		csv, at = &given.value, source{&given.Object}
	case len(c.problems) == 0:
		c.note(diag.Finding{Object: "the bundle", Problem: "has no base CSV; its descriptions are placeholders",
			Fix: "write a base with 'operon generate kustomize manifests'"})
	}
	if in.Version == "" && at.Object == nil && len(c.csvs) == 0 {
		return nil, source{}, errors.Join(ErrVersionRequired, c.problems.Err())
	}
	if in.Version != "" {
		csv.Name = in.Package + ".v" + in.Version
		version, err := semver.Parse(in.Version)
		if err != nil {
			c.problems.Addf(diag.Position{File: "--version"}, "%q must be a semantic version: %v", in.Version, err)
		}
		csv.Spec.Version.Version = version
	}
	if in.Replaces != "" {
		csv.Spec.Replaces = in.Replaces
	}
	return csv, at, nil
}

// reportNoDeployment reports that the input has no Deployment.
func (c *collection) reportNoDeployment() {
	for _, o := range c.others {
		if k := o.Kind(); o.Group() == "apps" && (k == "StatefulSet" || k == "DaemonSet") {
			c.problems.Addf(o.Position, "the input has no Deployment, and OLM runs nothing else; convert %s to a Deployment", o)
			return
		}
	}
	c.problems.Addf(diag.Position{File: "input"}, "has no Deployment that OLM could run; pass all manifests of the operator, as 'kustomize build config/manifests' prints them")
}

// validateCSV runs the CSV validation of operator-framework/api.
func (c *collection) validateCSV(csv *v1alpha1.ClusterServiceVersion, at source) {
	position := at.locate()
	if at.Object != nil {
		position = at.Position
	}
	for _, missing := range missingTexts(csv) {
		c.problems.Addf(at.locate(missing...), "%s of the CSV is required; set it in the base CSV", manifest.FieldPath(missing))
	}
	for _, result := range validation.ClusterServiceVersionValidator.Validate(csv) {
		for _, e := range result.Errors {
			if e.Type == apierrors.ErrorFieldMissing && len(c.problems) > 0 {
				continue // missingTexts reported it
			}
			c.problems.Addf(position, "the CSV %s would not be valid: %s", csv.Name, e.Detail)
		}
		for _, e := range result.Warnings {
			if e.Type == apierrors.ErrorInvalidOperation {
				continue // noteMissingExamples names the API, too
			}
			c.note(newWarning(csv, at, position, e.Detail))
		}
	}
	c.noteMissingExamples(csv)
	c.noteVersionMismatch(csv, position)
}

// newWarning returns the note for a warning of the CSV validation.
func newWarning(csv *v1alpha1.ClusterServiceVersion, at source, position diag.Position, detail string) diag.Finding {
	if strings.Contains(detail, "minKubeVersion is not informed") {
		return diag.Finding{Position: at.locate("spec"), Object: csv.Name, Problem: "has no spec.minKubeVersion, so OLM installs it on every Kubernetes version",
			Fix: "set the oldest supported version in the base CSV"}
	}
	return diag.Finding{Position: position, Object: csv.Name, Problem: "needs attention: " + strings.TrimPrefix(detail, "("+csv.Name+") ")}
}

// missingTexts returns the paths of required texts that a CSV lacks.
func missingTexts(csv *v1alpha1.ClusterServiceVersion) [][]string {
	var missing [][]string
	for _, field := range []struct {
		value string
		path  []string
	}{
		{csv.Spec.DisplayName, []string{"spec", "displayName"}},
		{csv.Name, []string{"metadata", "name"}},
	} {
		if field.value == "" {
			missing = append(missing, field.path)
		}
	}
	return missing
}

// noteMissingExamples notes the owned kinds without a sample.
func (c *collection) noteMissingExamples(csv *v1alpha1.ClusterServiceVersion) {
	var examples []metav1.TypeMeta
	// Invalid JSON has no examples.
	_ = json.Unmarshal([]byte(csv.Annotations[annotationExamples]), &examples)
	known := map[schema.GroupVersionKind]bool{}
	for _, example := range examples {
		known[example.GroupVersionKind()] = true
	}
	for _, d := range c.definitions() {
		if !known[schema.GroupVersionKind{Group: d.group, Version: d.version, Kind: d.kind}] {
			c.note(diag.Finding{Object: fmt.Sprintf("%s %s %s", d.group, d.version, d.kind),
				Problem: "has no example in the bundle",
				Fix:     "add a sample of it to the input"})
		}
	}
}

// noteVersionMismatch notes that a CSV generated without --version has a name and version that differ.
func (c *collection) noteVersionMismatch(csv *v1alpha1.ClusterServiceVersion, at diag.Position) {
	if version := csv.Spec.Version.String(); !strings.HasSuffix(csv.Name, ".v"+version) {
		c.note(diag.Finding{Position: at, Object: csv.Name, Problem: "has a name that does not match its version " + version,
			Fix: "set both with --version"})
	}
}
