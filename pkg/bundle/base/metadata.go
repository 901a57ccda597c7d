package base

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/url"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Metadata is what a person says about an operator. Empty fields leave the base as it is.
type Metadata struct {
	DisplayName, Description, ProviderName, ProviderURL string
	Keywords                                            []string
	Maintainers                                         []Maintainer
	Links                                               []Link
	// Maturity is a word such as alpha or stable, MinKubeVersion a version such as 1.29.0.
	Maturity, MinKubeVersion string
	Icon                     *Icon
}

// Maintainer is a person or an organization that looks after an operator.
type Maintainer struct{ Name, Email string }

// Link is a page about an operator.
type Link struct{ Name, URL string }

// Icon is a picture.
type Icon struct {
	Data      []byte
	MediaType string
}

// SplitList divides an answer at its commas.
func SplitList(text string) []string {
	parts := strings.Split(text, ",")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return parts
}

// ParseMaintainers reads entries of the form name:email and returns those that are none as well.
func ParseMaintainers(entries []string) (maintainers []Maintainer, wrong []string) {
	for _, entry := range entries {
		name, email, ok := strings.Cut(entry, ":")
		name, email = strings.TrimSpace(name), strings.TrimSpace(email)
		if !ok || name == "" || email == "" || strings.Contains(email, ":") {
			wrong = append(wrong, entry)
			continue
		}
		maintainers = append(maintainers, Maintainer{Name: name, Email: email})
	}
	return maintainers, wrong
}

// ParseAddress reads an e-mail address with or without a name: ana@example.com, or Ana <ana@example.com>. The name
// of one without is the part before the @.
func ParseAddress(text string) (name, email string, ok bool) {
	address, err := mail.ParseAddress(text)
	if err != nil {
		return "", "", false
	}
	if name, email = address.Name, address.Address; name == "" {
		name, _, _ = strings.Cut(email, "@")
	}
	return name, email, true
}

// CheckEmail says what is wrong with an address, or nothing.
func CheckEmail(address string) string {
	if _, err := mail.ParseAddress(address); err != nil {
		return "is no e-mail address"
	}
	return ""
}

// CheckURL says what is wrong with the address of a page, or nothing.
func CheckURL(address string) string {
	if u, err := url.Parse(address); err != nil || u.Scheme == "" || u.Host == "" && u.Scheme != "mailto" {
		return "must be a URL such as https://example.com"
	}
	return ""
}

// CheckKubeVersion says what is wrong with the version of Kubernetes that an operator needs, or nothing.
func CheckKubeVersion(version string) string {
	parts := strings.Split(version, ".")
	numbers := !slices.ContainsFunc(parts, func(part string) bool { return part == "" || strings.Trim(part, "0123456789") != "" })
	if len(parts) != 3 || !numbers { // the only form that OLM takes
		return "must have the form 1.29.0"
	}
	return ""
}

// NewIcon makes an icon of a file's name and content.
func NewIcon(name string, data []byte) (*Icon, error) {
	mediaType := iconType(name)
	switch {
	case mediaType == "":
		return nil, fmt.Errorf("catalogs show .svg, .png, .jpg and .gif files only")
	case len(data) == 0:
		return nil, fmt.Errorf("the file is empty")
	}
	return &Icon{Data: data, MediaType: mediaType}, nil
}

// iconType is the media type of a picture that catalogs show, by the ending of its file; empty for any other.
func iconType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	}
	return ""
}

// metadataFile is the form of the file that --metadata-file names.
type metadataFile struct {
	DisplayName    string       `yaml:"displayName"`
	Description    string       `yaml:"description"`
	Provider       fileLink     `yaml:"provider"`
	Keywords       []string     `yaml:"keywords"`
	Maintainers    []fileOfName `yaml:"maintainers"`
	Links          []fileLink   `yaml:"links"`
	Maturity       string       `yaml:"maturity"`
	MinKubeVersion string       `yaml:"minKubeVersion"`
	Icon           string       `yaml:"icon"`
}

type fileLink struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
}

type fileOfName struct {
	Name  string `yaml:"name"`
	Email string `yaml:"email"`
}

// ParseMetadata reads a file with metadata, whose keys are those of a CSV's spec. It returns the name of
// the file that the icon is in, too. The error names lines.
func ParseMetadata(name string, data []byte) (Metadata, string, error) {
	var f metadataFile
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	decoder := safeyaml.NewDecoder(data)
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && len(bytes.TrimSpace(data)) > 0 {
		return Metadata{}, "", yamlProblems(name, err)
	}
	m := Metadata{
		DisplayName: f.DisplayName, Description: f.Description, ProviderName: f.Provider.Name, ProviderURL: f.Provider.URL,
		Keywords: f.Keywords, Maturity: f.Maturity, MinKubeVersion: f.MinKubeVersion,
	}
	for _, one := range f.Maintainers {
		m.Maintainers = append(m.Maintainers, Maintainer(one))
	}
	for _, one := range f.Links {
		m.Links = append(m.Links, Link(one))
	}
	if problems := f.check(name, data); len(problems) > 0 {
		return Metadata{}, "", problems
	}
	return m, f.Icon, nil
}

// check finds values that no catalog takes.
func (f metadataFile) check(name string, data []byte) manifest.Problems {
	file := &existing{name: name}
	var document yaml.Node
	if err := safeyaml.Unmarshal(data, &document); err != nil || len(document.Content) == 0 {
		return nil
	}
	file.root = document.Content[0]
	var problems manifest.Problems
	wrong := func(problem string, path ...any) {
		node := file.find(path...)
		if problem == "" {
			return
		}
		if node == nil {
			node = file.find(path[:len(path)-1]...)
		}
		problems = append(problems, file.at(node, fieldName(path)+" "+problem))
	}
	for i, one := range f.Maintainers {
		if one.Name == "" {
			wrong("is missing", "maintainers", i, "name")
		}
		wrong(CheckEmail(one.Email), "maintainers", i, "email")
	}
	for i, one := range f.Links {
		if one.Name == "" {
			wrong("is missing", "links", i, "name")
		}
		wrong(CheckURL(one.URL), "links", i, "url")
	}
	for i, word := range f.Keywords {
		if word == "" {
			wrong("is empty", "keywords", i)
		}
	}
	if f.Provider.URL != "" {
		wrong(CheckURL(f.Provider.URL), "provider", "url")
	}
	if f.MinKubeVersion != "" {
		wrong(CheckKubeVersion(f.MinKubeVersion), "minKubeVersion")
	}
	return problems
}

// apply sets what is given in a CSV's spec.
func (m Metadata) apply(spec map[string]any) {
	for key, value := range map[string]string{
		"displayName": m.DisplayName, "description": m.Description, "maturity": m.Maturity, "minKubeVersion": m.MinKubeVersion,
	} {
		if value != "" {
			spec[key] = value
		}
	}
	if m.ProviderName != "" {
		spec["provider"] = link("name", m.ProviderName, "url", m.ProviderURL)
	} else if m.ProviderURL != "" {
		provider, _ := spec["provider"].(map[string]any)
		spec["provider"] = link("name", text(provider["name"]), "url", m.ProviderURL)
	}
	if m.Keywords != nil {
		list := make([]any, len(m.Keywords))
		for i, keyword := range m.Keywords {
			list[i] = keyword
		}
		spec["keywords"] = list
	}
	if m.Maintainers != nil {
		list := make([]any, len(m.Maintainers))
		for i, one := range m.Maintainers {
			list[i] = link("name", one.Name, "email", one.Email)
		}
		setOrDrop(spec, "maintainers", list)
	}
	if m.Links != nil {
		list := make([]any, len(m.Links))
		for i, one := range m.Links {
			list[i] = link("name", one.Name, "url", one.URL)
		}
		setOrDrop(spec, "links", list)
	}
	if m.Icon != nil {
		spec["icon"] = []any{map[string]any{"base64data": base64.StdEncoding.EncodeToString(m.Icon.Data), "mediatype": m.Icon.MediaType}}
	}
}

func setOrDrop(m map[string]any, key string, list []any) {
	if len(list) == 0 {
		delete(m, key)
		return
	}
	m[key] = list
}

// link is a map of those of two entries that say something.
func link(key, value, otherKey, otherValue string) map[string]any {
	m := map[string]any{}
	if value != "" {
		m[key] = value
	}
	if otherValue != "" {
		m[otherKey] = otherValue
	}
	return m
}

// text is a value that is a string, or nothing.
func text(value any) string {
	s, _ := value.(string)
	return s
}
