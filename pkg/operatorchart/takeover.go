package operatorchart

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A Takeover is how a chart of kubebuilder's plugin continues.
type Takeover struct {
	// Base and Ours are the files for a merge with the chart that Make returned: ours with the values of the existing chart, and as the base
	// what the plugin generates again and again, which Make's templates replace.
	Base, Ours Files
	// Replaced are the templates that the plugin has written, sorted. It can't be told whether they were edited.
	Replaced []string
	// Missing are values of the new chart that couldn't be added to the user's, sorted.
	Missing []string
}

// HasForm reports whether files are a chart of the form that Make and kubebuilder's plugin write: its templates are in directories by topic.
func HasForm(files Files) bool {
	return files[chartFile] != nil && files["templates/manager/manager.yaml"] != nil
}

// IsNamed reports whether a chart has a name.
func IsNamed(files Files, name string) bool {
	var metadata struct{ Name string }
	return safeyaml.Unmarshal(files[chartFile], &metadata) == nil && metadata.Name == name
}

// Continue returns how a chart that kubebuilder's plugin has written continues as the chart c.
func (c *Chart) Continue(existing Files) (*Takeover, error) {
	t := &Takeover{Base: Files{}, Ours: Files{}}
	objects := map[string]bool{}
	for name, content := range c.Files {
		objects[objectIn(name, content)] = true
	}
	for name, content := range existing {
		t.Ours[name] = content
		made := c.Files[name]
		switch {
		case name == helpersFile:
			t.Ours[name], t.Base[name] = withSelector(existing, withHelpers(content, made)), made
			t.Replaced = append(t.Replaced, name)
		case name == valuesFile:
			values, err := c.withValues(content, made)
			if err != nil {
				return nil, err
			}
			t.Ours[name], t.Base[name] = values, made
			if t.Missing, err = missingValues(values, made); err != nil {
				return nil, err
			}
		case made != nil && !strings.HasPrefix(name, "templates/"):
			t.Base[name] = made // the user's stays
		case strings.HasPrefix(name, "templates/") && (made != nil || olderTemplate.MatchString(name) || objects[objectIn(name, content)]):
			t.Base[name] = content
			if string(content) != string(made) {
				t.Replaced = append(t.Replaced, name)
			}
		}
	}
	slices.Sort(t.Replaced)
	return t, nil
}

// olderTemplate matches the templates of version v1-alpha of the plugin whose objects have other files now, and the roles for people of all
// versions: those for kinds that are gone stay in the chart of the plugin.
var olderTemplate = lazyregexp.New(`^templates/(certmanager/certificate|crd/[^/]+|metrics/metrics-service|prometheus/monitor|webhook/(webhooks|service)|` +
	`rbac/(role|role_binding|service_account|leader_election_role|leader_election_role_binding|metrics_auth_role|metrics_auth_role_binding|` +
	`metrics_reader_role|[^/]+[-_](admin|editor|viewer)[-_]role))\.ya?ml$`)

// objectIn returns what identifies the object in a template: its kind and its name without what follows the release. It is the name of the file
// if the template has no such object.
func objectIn(file string, template []byte) string {
	kind, name := kindLine.FindSubmatch(template), nameLine.FindSubmatch(template)
	if kind == nil || name == nil {
		return file
	}
	text := string(name[1])
	if suffix := suffixIn.FindStringSubmatch(text); suffix != nil {
		text = suffix[1]
	} else if i := strings.LastIndex(text, "}}-"); i >= 0 {
		text = text[i+len("}}-"):]
	}
	return string(kind[1]) + " " + text
}

var (
	kindLine = lazyregexp.New(`(?m)^kind: (.+)$`)
	nameLine = lazyregexp.New(`(?m)^  name: (.+)$`)
	suffixIn = lazyregexp.New(`"suffix" "([^"]+)"`)
)

// instanceCondition is the condition in the helpers on which selectors have the label of the release.
var instanceCondition = lazyregexp.New(`\{\{- if ne \(include "[^"]+\.fullname" \.\) "[^"]+" -\}\}`)

// instanceHelper is the beginning of the helper with that condition, which only Make's charts have.
var instanceHelper = lazyregexp.New(`define "[^"]+\.instance" -\}\}\s*(\{\{- if .* -\}\})`)

// withSelector returns helpers with which selectors stay as they are in installed releases, since the API server refuses to change them. In
// version v1-alpha of the plugin, selectors always have the label of the release, in v2-alpha never.
func withSelector(existing Files, helpers []byte) []byte {
	condition := []byte("{{- if false -}}")
	if found := instanceHelper.FindSubmatch(existing[helpersFile]); found != nil {
		condition = found[1]
	} else if isOlder(existing[valuesFile]) {
		condition = []byte("{{- if true -}}")
	}
	return instanceCondition.ReplaceAllFunc(helpers, func([]byte) []byte { return condition })
}

// withHelpers adds helpers that only the user has to the generated ones, since templates may include them.
func withHelpers(ours, made []byte) []byte {
	merged := strings.TrimRight(string(made), "\n") + "\n"
	starts := definition.FindAllSubmatchIndex(ours, -1)
	for i, at := range starts {
		end := len(ours)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name, block := string(ours[at[2]:at[3]]), string(ours[at[0]:end])
		if last := strings.LastIndex(block, "end"); last >= 0 && !strings.Contains(merged, `define "`+name+`"`) {
			line, _, _ := strings.Cut(block[last:], "\n")
			merged += "\n" + block[:last] + line + "\n"
		}
	}
	return []byte(merged)
}

// definition is the beginning of a helper.
var definition = lazyregexp.New(`(?m)^\{\{-? *define "([^"]+)"`)
