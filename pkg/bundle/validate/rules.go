package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apivalidation "github.com/operator-framework/api/pkg/validation"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// checkRules runs additional rules for problems that the validators do not report.
func (c *content) checkRules(o Options) diag.Findings {
	if c.mediaType == helmType {
		return nil
	}
	c.findings = nil
	c.ruleNames()
	c.ruleChannels()
	c.ruleInstallModes()
	c.ruleTexts()
	c.ruleIcon()
	c.ruleImages()
	c.rulePermissions()
	c.ruleAccounts()
	c.ruleDeployments()
	c.ruleWebhooks()
	c.ruleObjects()
	c.ruleSize()
	c.ruleFields()
	c.ruleSchemas(o)
	c.ruleRemovedAPIs(o)
	return c.findings
}

// own records a warning about a field of an object.
func (c *content) own(obj manifest.Object, rule, field, text, fix string) {
	at := obj.Position
	if field != "" {
		at = obj.Locate(manifest.Steps(field)...)
	}
	c.findings = append(c.findings, diag.Finding{
		Position: at, Severity: diag.Warning, Rule: rule, Object: describe(obj), Field: field, Problem: text, Fix: fix,
	})
}

// ownAnnotation records a finding about an annotation of the metadata.
func (c *content) ownAnnotation(level diag.Severity, rule, key, text, fix string) {
	c.findings = append(c.findings, diag.Finding{
		Position: c.position(key), Severity: level, Rule: rule, Field: manifest.FieldPath([]string{"annotations", key}), Problem: text, Fix: fix,
	})
}

// ruleNames checks that name, version and package match, and what the CSV replaces.
func (c *content) ruleNames() {
	spec := c.api.CSV.Spec
	name, pkg := c.api.CSV.Name, c.metadata.values[bundle.PackageLabel]
	version := manifest.TextAt(c.csv.Fields, "spec", "version")
	suggested := spec.Version.String()
	if spec.Version.Version.Equals(semver.Version{}) { // missing or invalid
		suggested = "1.2.0"
	}
	switch _, err := semver.Parse(version); {
	case version == "":
		c.own(c.csv, "csv-version", "spec.version", "is missing", "write the version of the bundle, such as 1.2.0")
	case err != nil:
		c.own(c.csv, "csv-version", "spec.version", fmt.Sprintf("%q is not a semantic version", version), "write MAJOR.MINOR.PATCH, such as "+suggested)
	}
	if _, ok := c.metadata.values[bundle.PackageLabel]; ok && pkg == "" {
		c.ownAnnotation(diag.Warning, "package", bundle.PackageLabel, "is empty", "write the name of the package")
	}
	base, suffix, ok := strings.Cut(name, ".v")
	switch {
	case !ok && version != "":
		c.own(c.csv, "csv-name", "metadata.name", fmt.Sprintf("%q does not name the version", name), fmt.Sprintf("write %s.v%s", name, suggested))
	case ok && version != "" && suffix != version && suffix != spec.Version.String():
		c.own(c.csv, "csv-name", "metadata.name", fmt.Sprintf("names the version %s, but spec.version is %s", suffix, version), fmt.Sprintf("write %s.v%s", base, suggested))
	}
	if pkg != "" && base != pkg {
		c.own(c.csv, "package", "metadata.name", fmt.Sprintf("begins with %q, but the package is %q", base, pkg), fmt.Sprintf("name the CSV %s.v%s, or correct the annotation %s", pkg, suggested, bundle.PackageLabel))
	}
	if spec.Replaces != "" && spec.Replaces == name {
		c.own(c.csv, "replaces", "spec.replaces", "the ClusterServiceVersion replaces itself", "set the previous version, or remove the line")
	}
	for i, skip := range spec.Skips {
		field := fmt.Sprintf("spec.skips[%d]", i)
		switch {
		case skip == name:
			c.own(c.csv, "replaces", field, "the ClusterServiceVersion skips itself", "remove the line")
		case !strings.Contains(skip, ".v") || strings.ContainsAny(skip, " _") || strings.ToLower(skip) != skip:
			c.own(c.csv, "replaces", field, fmt.Sprintf("%q is not a valid ClusterServiceVersion name", skip), "write <package>.v<version>")
		}
	}
	const skipRange = `metadata.annotations["olm.skipRange"]`
	if value, ok := c.api.CSV.Annotations["olm.skipRange"]; ok {
		inRange, err := semver.ParseRange(value)
		switch {
		case err != nil:
			c.own(c.csv, "replaces", skipRange, fmt.Sprintf("%q is not a version range", value), "write a range such as '>=1.0.0 <1.2.0'")
		case version != "" && inRange(spec.Version.Version):
			c.own(c.csv, "replaces", skipRange, fmt.Sprintf("the range %s includes the version itself", value), "end it with <"+spec.Version.String())
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.api.CSV.Annotations)) {
		for _, known := range []string{"alm-examples", "olm.skipRange", "capabilities", "categories", "containerImage", "createdAt", "support", "repository"} {
			if key != known && strings.EqualFold(key, known) && known != "olm.skipRange" {
				c.own(c.csv, "annotation-case", manifest.FieldPath([]string{"metadata", "annotations", key}), "the annotation is case-sensitive", "write "+known)
			}
		}
	}
}

// ruleChannels checks the channels of the metadata.
func (c *content) ruleChannels() {
	channels := c.metadata.channels()
	for _, channel := range channels {
		switch trimmed := strings.TrimSpace(channel); {
		case trimmed != channel || trimmed == "" || strings.ContainsAny(trimmed, " \t/"):
			c.ownAnnotation(diag.Warning, "channel-name", bundle.ChannelsLabel, fmt.Sprintf("%q is not a valid channel name", channel), "write names without spaces, separated by commas only")
		case trimmed != bundle.DefaultChannel && !strings.HasPrefix(trimmed, "stable") && !strings.HasPrefix(trimmed, "fast") && !strings.HasPrefix(trimmed, "candidate"):
			c.ownAnnotation(diag.Note, "channel-name", bundle.ChannelsLabel, fmt.Sprintf("%q does not indicate the maturity of its bundles", channel),
				"the convention is the prefix candidate, fast or stable: https://olm.operatorframework.io/docs/best-practices/channel-naming")
		}
	}
	if d := c.metadata.values[bundle.DefaultChannelLabel]; d != "" && len(channels) > 0 && !slices.Contains(channels, d) {
		c.ownAnnotation(diag.Warning, "default-channel", bundle.DefaultChannelLabel, fmt.Sprintf("%q is not one of the channels %s", d, strings.Join(channels, ", ")),
			"set one of them, unless another bundle of the package is in that channel")
	}
}

func (c *content) ruleInstallModes() {
	seen := map[v1alpha1.InstallModeType]bool{}
	for i, mode := range c.api.CSV.Spec.InstallModes {
		field := fmt.Sprintf("spec.installModes[%d].type", i)
		switch mode.Type {
		case v1alpha1.InstallModeTypeOwnNamespace, v1alpha1.InstallModeTypeSingleNamespace, v1alpha1.InstallModeTypeMultiNamespace, v1alpha1.InstallModeTypeAllNamespaces:
		default:
			c.own(c.csv, "install-modes", field, fmt.Sprintf("%q is not an install mode", mode.Type), "write OwnNamespace, SingleNamespace, MultiNamespace or AllNamespaces")
		}
		if seen[mode.Type] {
			c.own(c.csv, "install-modes", field, fmt.Sprintf("%s is listed twice", mode.Type), "list each install mode once")
		}
		seen[mode.Type] = true
	}
}

// ruleTexts finds placeholders of the scaffold.
func (c *content) ruleTexts() {
	var visit func(value any, path []string)
	visit = func(value any, path []string) {
		switch v := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if key == "install" || key == "alm-examples" {
					continue
				}
				visit(v[key], append(slices.Clip(path), key))
			}
		case []any:
			for i, item := range v {
				visit(item, append(slices.Clip(path), fmt.Sprint(i)))
			}
		case string:
			if left := placeholder(v); left != "" {
				c.own(c.csv, "placeholder", manifest.FieldPath(path), fmt.Sprintf("still contains the placeholder %q", left), "replace it")
			}
		}
	}
	visit(manifest.MapAt(c.csv.Fields, "metadata", "annotations"), []string{"metadata", "annotations"})
	visit(manifest.MapAt(c.csv.Fields, "spec"), []string{"spec"})
	if c.api.CSV.Spec.Description == "" {
		c.own(c.csv, "description", "spec.description", "is missing", "describe the operator in Markdown")
	}
}

// placeholder returns a placeholder that a text contains, or "".
func placeholder(text string) string {
	for _, left := range []string{"your.domain", "Your Name", "your@email.com", "TODO", "FIXME"} {
		if strings.Contains(text, left) {
			return left
		}
	}
	return ""
}

// ruleSize checks the limits for uncompressed objects.
func (c *content) ruleSize() {
	for _, obj := range c.objects {
		if n := len(obj.Data()); n > 1<<20 {
			c.own(obj, "size", "", fmt.Sprintf("has %d bytes; a cluster stores objects of at most 1.5 MiB, including fields that it adds", n),
				"shorten descriptions and examples")
		}
	}
}

// ruleRemovedAPIs checks the APIs against the Kubernetes versions of the CSV.
func (c *content) ruleRemovedAPIs(o Options) {
	for _, result := range apivalidation.AlphaDeprecatedAPIsValidator.Validate(c.api, o.Values) {
		for _, f := range c.convert("removed-api", result) {
			if f.Rule == "removed-api" && !(o.Selector != nil && !o.Selector.Empty() && o.Selector.Matches(Optionals()[5].Labels())) {
				f.Severity, f.Err = diag.Warning, nil
				c.findings = append(c.findings, f)
			}
		}
	}
}
