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
	"github.com/operon-sdk/operon/pkg/manifest"
)

// checkRules runs the rules of our own: what is known to go wrong with a bundle that the validators pass.
func (c *content) checkRules(o Options) []Finding {
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
	c.ruleSchemas()
	c.ruleRemovedAPIs(o)
	return c.findings
}

// own records a warning about a field of an object.
func (c *content) own(obj manifest.Object, rule, field, text, fix string) {
	at := obj.Position
	if field != "" {
		at = obj.Locate(manifest.Steps(field)...)
	}
	c.findings = append(c.findings, Finding{
		Position: at, Level: Warning, Rule: rule, Object: describe(obj), Field: field, Text: text, Fix: fix,
	})
}

// ownAnnotation records a finding about an annotation of the metadata.
func (c *content) ownAnnotation(level Level, rule, key, text, fix string) {
	c.findings = append(c.findings, Finding{
		Position: c.place(key), Level: level, Rule: rule, Field: manifest.FieldPath([]string{"annotations", key}), Text: text, Fix: fix,
	})
}

// ruleNames checks that name, version and package belong together, and what the CSV replaces.
func (c *content) ruleNames() {
	spec := c.api.CSV.Spec
	name, pkg := c.api.CSV.Name, c.metadata.values[bundle.PackageLabel]
	version, _ := textAt(c.csv.Fields, "spec", "version")
	suggested := spec.Version.String()
	if spec.Version.Version.Equals(semver.Version{}) { // as for a version that is missing or cannot be parsed
		suggested = "1.2.0"
	}
	switch _, err := semver.Parse(version); {
	case version == "":
		c.own(c.csv, "csv-version", "spec.version", "is missing", "write the version of the bundle, such as 1.2.0")
	case err != nil:
		c.own(c.csv, "csv-version", "spec.version", fmt.Sprintf("%q is no semantic version", version), "write MAJOR.MINOR.PATCH, such as "+suggested)
	}
	if _, ok := c.metadata.values[bundle.PackageLabel]; ok && pkg == "" {
		c.ownAnnotation(Warning, "package", bundle.PackageLabel, "is empty", "write the name of the package")
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
		c.own(c.csv, "replaces", "spec.replaces", "the ClusterServiceVersion replaces itself", "name the version before this one, or take the line out")
	}
	for i, skip := range spec.Skips {
		field := fmt.Sprintf("spec.skips[%d]", i)
		switch {
		case skip == name:
			c.own(c.csv, "replaces", field, "the ClusterServiceVersion skips itself", "take the line out")
		case !strings.Contains(skip, ".v") || strings.ContainsAny(skip, " _") || strings.ToLower(skip) != skip:
			c.own(c.csv, "replaces", field, fmt.Sprintf("%q is no name of a ClusterServiceVersion", skip), "write <package>.v<version>")
		}
	}
	const skipRange = `metadata.annotations["olm.skipRange"]`
	if value, ok := c.api.CSV.Annotations["olm.skipRange"]; ok {
		inRange, err := semver.ParseRange(value)
		switch {
		case err != nil:
			c.own(c.csv, "replaces", skipRange, fmt.Sprintf("%q is no range of versions", value), "write a range such as '>=1.0.0 <1.2.0'")
		case version != "" && inRange(spec.Version.Version):
			c.own(c.csv, "replaces", skipRange, fmt.Sprintf("the range %s holds the version itself", value), "end it with <"+spec.Version.String())
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.api.CSV.Annotations)) {
		for _, known := range []string{"alm-examples", "olm.skipRange", "capabilities", "categories", "containerImage", "createdAt", "support", "repository"} {
			if key != known && strings.EqualFold(key, known) && known != "olm.skipRange" {
				c.own(c.csv, "annotation-case", manifest.FieldPath([]string{"metadata", "annotations", key}), "the name is known in another case only", "write "+known)
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
			c.ownAnnotation(Warning, "channel-name", bundle.ChannelsLabel, fmt.Sprintf("%q is no name of a channel", channel), "write names without blanks, and commas alone between them")
		case trimmed != bundle.DefaultChannel && !strings.HasPrefix(trimmed, "stable") && !strings.HasPrefix(trimmed, "fast") && !strings.HasPrefix(trimmed, "candidate"):
			c.ownAnnotation(Note, "channel-name", bundle.ChannelsLabel, fmt.Sprintf("%q does not say how mature its bundles are", channel),
				"the convention is to begin with candidate, fast or stable: https://olm.operatorframework.io/docs/best-practices/channel-naming")
		}
	}
	if d := c.metadata.values[bundle.DefaultChannelLabel]; d != "" && len(channels) > 0 && !slices.Contains(channels, d) {
		c.ownAnnotation(Warning, "default-channel", bundle.DefaultChannelLabel, fmt.Sprintf("%q is none of the channels %s", d, strings.Join(channels, ", ")),
			"name one of them, unless another bundle of the package is in that channel")
	}
}

func (c *content) ruleInstallModes() {
	seen := map[v1alpha1.InstallModeType]bool{}
	for i, mode := range c.api.CSV.Spec.InstallModes {
		field := fmt.Sprintf("spec.installModes[%d].type", i)
		switch mode.Type {
		case v1alpha1.InstallModeTypeOwnNamespace, v1alpha1.InstallModeTypeSingleNamespace, v1alpha1.InstallModeTypeMultiNamespace, v1alpha1.InstallModeTypeAllNamespaces:
		default:
			c.own(c.csv, "install-modes", field, fmt.Sprintf("%q is no install mode", mode.Type), "write OwnNamespace, SingleNamespace, MultiNamespace or AllNamespaces")
		}
		if seen[mode.Type] {
			c.own(c.csv, "install-modes", field, fmt.Sprintf("%s is listed twice", mode.Type), "list each install mode once")
		}
		seen[mode.Type] = true
	}
}

// ruleTexts finds texts that a scaffold left for the author to fill in.
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
				c.own(c.csv, "placeholder", manifest.FieldPath(path), fmt.Sprintf("still holds the placeholder %q", left), "write the real text")
			}
		}
	}
	if annotations, ok := mapAt(c.csv.Fields, "metadata", "annotations"); ok {
		visit(annotations, []string{"metadata", "annotations"})
	}
	if spec, ok := mapAt(c.csv.Fields, "spec"); ok {
		visit(spec, []string{"spec"})
	}
	if c.api.CSV.Spec.Description == "" {
		c.own(c.csv, "description", "spec.description", "is missing", "say in Markdown what the operator does")
	}
}

// placeholder is what a text still holds of a scaffold's.
func placeholder(text string) string {
	for _, left := range []string{"your.domain", "Your Name", "your@email.com", "TODO", "FIXME"} {
		if strings.Contains(text, left) {
			return left
		}
	}
	return ""
}

// ruleSize checks the limits that hold for what is not compressed.
func (c *content) ruleSize() {
	for _, obj := range c.objects {
		if n := len(obj.Data()); n > 1<<20 {
			c.own(obj, "size", "", fmt.Sprintf("has %d bytes, and a cluster stores objects of about 1.5 MiB at most, once it has added its own fields", n),
				"shorten descriptions and examples")
		}
	}
}

// ruleRemovedAPIs checks the APIs against the Kubernetes versions that the CSV states.
func (c *content) ruleRemovedAPIs(o Options) {
	for _, result := range apivalidation.AlphaDeprecatedAPIsValidator.Validate(c.api, o.Values) {
		for _, f := range c.convert("removed-api", result) {
			if f.Rule == "removed-api" && !(o.Selector != nil && !o.Selector.Empty() && o.Selector.Matches(Optionals()[5].Labels())) {
				f.Level, f.Message = Warning, ""
				c.findings = append(c.findings, f)
			}
		}
	}
}
