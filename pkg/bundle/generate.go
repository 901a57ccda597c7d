package bundle

import (
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
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/manifest"
)

const (
	annotationCreated = "createdAt"
	annotationBuilder = "operators.operatorframework.io/builder"
	annotationLayout  = "operators.operatorframework.io/project_layout"
)

// Input is what a bundle is made from.
type Input struct {
	// Package is the name of the operator's package. Version is the bundle's, without v; empty leaves
	// name and version of the base alone.
	Package, Version string
	// Replaces is the name of the CSV that this one replaces; empty leaves the base's alone.
	Replaces string
	// Layout is the project's layout, comma-separated, or unknown. Builder names this program.
	Layout, Builder string
	// Objects are the manifests. A CSV among them is the base.
	Objects []manifest.Object
	// Base is the CSV to start from where Objects hold none; without, it starts from placeholders.
	Base *manifest.Object
	// Pin gives an image reference by digest; nil leaves images as they are.
	Pin func(ref string) (string, error)
	// ServiceAccounts are accounts that no Deployment uses but whose permissions the CSV shall have.
	ServiceAccounts []string
	// ExistingRoles are names of roles that the operator's accounts are bound to and that clusters have.
	ExistingRoles []string
}

// Manifests are the objects of a bundle.
type Manifests struct {
	// CSV is the ClusterServiceVersion, without createdAt.
	CSV map[string]any
	// Name is the file name of the CSV, Files are the other manifests by file name.
	Name  string
	Files map[string][]byte
	// Order lists the names in Files in the order that the input gives.
	Order []string
	// Scorecard is the scorecard's configuration, nil where the input has none.
	Scorecard []byte
	// Notes are what a person should know.
	Notes []Note
}

// source is where the base came from.
type source struct{ *manifest.Object }

func (s source) locate(steps ...string) manifest.Position {
	if s.Object == nil {
		return manifest.Position{}
	}
	return s.Locate(steps...)
}

// ErrVersionRequired means that neither Input.Version nor a base CSV gives the version of the bundle.
var ErrVersionRequired = errors.New("--version is required: there is no base CSV that has a version")

// Generate makes the manifests of a bundle. The error holds all that is wrong with the input, as manifest.Problems and
// ErrVersionRequired, or is a *MissingRolesError or an *UnavailableError.
func Generate(in Input) (*Manifests, error) {
	c := collect(in.Objects)
	csv, at, err := c.base(in)
	if err != nil {
		return nil, err
	}
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	c.leaveRequired(csv)
	if len(c.deployments) == 0 {
		c.noDeployment()
	}
	if csv.Annotations == nil {
		csv.Annotations = map[string]string{}
	}
	if in.Pin != nil {
		c.pin(csv, in.Pin)
	}
	c.applyRelatedImages(csv, in.Pin != nil)
	strategy := &csv.Spec.InstallStrategy
	if strategy.StrategyName == "" {
		strategy.StrategyName = v1alpha1.InstallStrategyNameDeployment
	}
	w := c.applyWebhooks(csv)
	w.leaveCerts()
	w.leaveServices()
	if strategy.StrategyName == v1alpha1.InstallStrategyNameDeployment {
		c.applyRBAC(&strategy.StrategySpec, in.ServiceAccounts, in.ExistingRoles)
		c.applyDeployments(&strategy.StrategySpec)
	}
	c.applyDefinitions(csv, at)
	if err := c.applyExamples(csv); err != nil {
		return nil, err
	}
	if len(c.problems) == 0 {
		c.check(csv, at)
	}
	switch {
	case len(c.problems) > 0:
		return nil, slices.Concat(c.problems, c.missingRoles, c.unavailable)
	case len(c.missingRoles) > 0:
		return nil, &MissingRolesError{append(c.missingRoles, c.unavailable...)}
	case len(c.unavailable) > 0:
		return nil, &UnavailableError{c.unavailable}
	}
	delete(csv.Annotations, annotationCreated)
	csv.Annotations[annotationBuilder] = in.Builder
	csv.Annotations[annotationLayout] = in.Layout
	out := &Manifests{Name: CSVFile(in.Package)}
	if out.CSV, err = csvFields(csv); err != nil {
		return nil, err
	}
	if err := c.files(out); err != nil {
		return nil, err
	}
	out.Notes = c.notes
	return out, nil
}

// CSVFile is the file name of a package's CSV.
func CSVFile(pkg string) string { return strings.ToLower(pkg) + ".clusterserviceversion.yaml" }

// BaseFile is where a project keeps the base of its CSV, below the folder of the kustomization.
func BaseFile(kustomizeDir, pkg string) string {
	return path.Join(kustomizeDir, "bases", pkg+".clusterserviceversion.yaml")
}

// base finds the CSV to start from and gives it the bundle's name and version.
func (c *collection) base(in Input) (*v1alpha1.ClusterServiceVersion, source, error) {
	if in.Base != nil && len(c.csvs) == 0 {
		take(c, &c.csvs, *in.Base)
	}
	csv, err := defaultBase(in.Package)
	if err != nil {
		return nil, source{}, err
	}
	var at source
	switch {
	case len(c.csvs) > 1:
		places := make([]string, len(c.csvs))
		for i, other := range c.csvs {
			places[i] = fmt.Sprintf("%s at %s", other.Name(), other.Position)
		}
		c.problem(c.csvs[1].Position, "there are %d ClusterServiceVersions in the input (%s); a bundle has one, leave the others out", len(places), strings.Join(places, ", "))
	case len(c.csvs) == 1:
		base := c.csvs[0]
		if !strings.HasPrefix(base.Name(), in.Package+".") {
			c.problem(base.Locate("metadata", "name"), "the base CSV is named %s, which does not begin with %s.; rename it, or give its package with --package", base.Name(), in.Package)
			break
		}
		csv, at = &base.value, source{&base.Object}
	case len(c.problems) == 0:
		c.note(Note{Subject: "the bundle", Reason: "has no base CSV, so that its texts are placeholders",
			Advice: "write a base with 'generate kustomize manifests'"})
	}
	if in.Version == "" && at.Object == nil && len(c.csvs) == 0 {
		return nil, source{}, errors.Join(ErrVersionRequired, c.problems.Err())
	}
	if in.Version != "" {
		csv.Name = in.Package + ".v" + in.Version
		version, err := semver.Parse(in.Version)
		if err != nil {
			c.problem(manifest.Position{File: "--version"}, "%q is no semantic version: %v", in.Version, err)
		}
		csv.Spec.Version.Version = version
	}
	if in.Replaces != "" {
		csv.Spec.Replaces = in.Replaces
	}
	return csv, at, nil
}

func (c *collection) noDeployment() {
	for _, o := range c.others {
		if k := o.Kind(); o.Group() == "apps" && (k == "StatefulSet" || k == "DaemonSet") {
			c.problem(o.Position, "the input holds no Deployment, and OLM installs nothing else: make a Deployment of %s", o)
			return
		}
	}
	c.problem(manifest.Position{File: "input"}, "there is no Deployment in it: OLM would have nothing to run; give all manifests of the operator, as 'kustomize build config/manifests' prints them")
}

// check runs operator-framework's validation of a CSV over the finished one.
func (c *collection) check(csv *v1alpha1.ClusterServiceVersion, at source) {
	position := at.locate()
	if at.Object != nil {
		position = at.Position
	}
	for _, missing := range missingTexts(csv) {
		c.problem(at.locate(missing...), "%s of the CSV is missing; write it into the base CSV", manifest.FieldPath(missing))
	}
	for _, result := range validation.ClusterServiceVersionValidator.Validate(csv) {
		for _, e := range result.Errors {
			if e.Type == apierrors.ErrorFieldMissing && len(c.problems) > 0 {
				continue // named already
			}
			c.problem(position, "the CSV %s would not be valid: %s", csv.Name, e.Detail)
		}
		for _, e := range result.Warnings {
			if e.Type == apierrors.ErrorInvalidOperation {
				continue // without the name of the API; missingExamples gives it
			}
			c.note(warning(csv, at, position, e.Detail))
		}
	}
	c.missingExamples(csv)
	c.noteVersions(csv, position)
}

// warning is the note of a warning of operator-framework's validation.
func warning(csv *v1alpha1.ClusterServiceVersion, at source, position manifest.Position, detail string) Note {
	if strings.Contains(detail, "minKubeVersion is not informed") {
		return Note{Position: at.locate("spec"), Subject: csv.Name, Reason: "has no spec.minKubeVersion, so that OLM installs it on every version of Kubernetes",
			Advice: "write the oldest version that it runs on into the base CSV"}
	}
	return Note{Position: position, Subject: csv.Name, Reason: "is doubtful: " + strings.TrimPrefix(detail, "("+csv.Name+") ")}
}

// missingTexts are the required texts that a CSV lacks.
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

// missingExamples notes the owned kinds without a sample.
func (c *collection) missingExamples(csv *v1alpha1.ClusterServiceVersion) {
	var examples []metav1.TypeMeta
	// Of what is no example, there is none.
	_ = json.Unmarshal([]byte(csv.Annotations[annotationExamples]), &examples)
	known := map[schema.GroupVersionKind]bool{}
	for _, example := range examples {
		known[example.GroupVersionKind()] = true
	}
	for _, d := range c.definitions() {
		if !known[schema.GroupVersionKind{Group: d.group, Version: d.version, Kind: d.kind}] {
			c.note(Note{Subject: fmt.Sprintf("%s %s %s", d.group, d.version, d.kind),
				Reason: "has no example in the bundle",
				Advice: "add a sample of it to the input"})
		}
	}
}

// noteVersions notes that a CSV without --version kept a name that does not go with its version.
func (c *collection) noteVersions(csv *v1alpha1.ClusterServiceVersion, at manifest.Position) {
	if version := csv.Spec.Version.String(); !strings.HasSuffix(csv.Name, ".v"+version) {
		c.note(Note{Position: at, Subject: csv.Name, Reason: "is the name of version " + version,
			Advice: "give --version, so that name and version agree"})
	}
}
