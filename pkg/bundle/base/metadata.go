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

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Metadata is the user-provided description of an operator. Empty fields keep the values of the base.
type Metadata struct {
	DisplayName, Description, ProviderName, ProviderURL string
	Keywords                                            []string
	Maintainers                                         []Maintainer
	Links                                               []Link
	// Maturity is a level such as alpha or stable, MinKubeVersion a version such as 1.29.0.
	Maturity, MinKubeVersion string
	Icon                     *Icon
}

// A Maintainer is a user or organization that maintains an operator.
type Maintainer struct{ Name, Email string }

// A Link is a web page about an operator.
type Link struct{ Name, URL string }

// An Icon is the image that catalogs show.
type Icon struct {
	Data      []byte
	MediaType string
}

// SplitList splits a text at its commas.
func SplitList(text string) []string {
	parts := strings.Split(text, ",")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return parts
}

// ParseMaintainers parses entries of the form name:email, and returns invalid entries separately.
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

// ParseAddress parses an e-mail address with or without a name: ana@example.com, or Ana <ana@example.com>. The default
// name is the part before the @.
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

// CheckEmail returns the problem of an e-mail address, or "".
func CheckEmail(address string) string {
	if _, err := mail.ParseAddress(address); err != nil {
		return "must be an e-mail address"
	}
	return ""
}

// CheckURL returns the problem of a page address, or "".
func CheckURL(address string) string {
	if u, err := url.Parse(address); err != nil || u.Scheme == "" || u.Host == "" && u.Scheme != "mailto" {
		return "must be a URL such as https://example.com"
	}
	return ""
}

// CheckKubeVersion returns the problem of a minimum Kubernetes version, or "".
func CheckKubeVersion(version string) string {
	parts := strings.Split(version, ".")
	numbers := !slices.ContainsFunc(parts, func(part string) bool { return part == "" || strings.Trim(part, "0123456789") != "" })
	if len(parts) != 3 || !numbers { // the only form that OLM accepts
		return "must have the form 1.29.0"
	}
	return ""
}

// NewIcon returns an icon from the name and content of a file.
func NewIcon(name string, data []byte) (*Icon, error) {
	mediaType := iconType(name)
	switch {
	case mediaType == "":
		return nil, fmt.Errorf("must be a .svg, .png, .jpg or .gif file")
	case len(data) == 0:
		return nil, fmt.Errorf("must not be empty")
	}
	return &Icon{Data: data, MediaType: mediaType}, nil
}

// iconType returns the media type of an image by its file extension; empty if catalogs cannot show it.
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

// A metadataFile is the format of the file for --metadata-file.
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

// ParseMetadata parses a metadata file, which has the keys of a CSV's spec, and also returns the path of the icon. The
// error contains positions.
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

// check returns the values that catalogs do not accept.
func (f metadataFile) check(name string, data []byte) diag.Findings {
	file := &existing{name: name}
	var document yaml.Node
	if err := safeyaml.Unmarshal(data, &document); err != nil || len(document.Content) == 0 {
		return nil
	}
	file.root = document.Content[0]
	var problems diag.Findings
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

// apply sets the given metadata in a CSV's spec.
func (m Metadata) apply(spec map[string]any) {
	for key, value := range map[string]string{
		"displayName": m.DisplayName, "description": m.Description, "maturity": m.Maturity, "minKubeVersion": m.MinKubeVersion,
	} {
		if value != "" {
			spec[key] = value
		}
	}
	if m.ProviderName != "" {
		spec["provider"] = mapOf("name", m.ProviderName, "url", m.ProviderURL)
	} else if m.ProviderURL != "" {
		provider, _ := spec["provider"].(map[string]any)
		spec["provider"] = mapOf("name", text(provider["name"]), "url", m.ProviderURL)
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
			list[i] = mapOf("name", one.Name, "email", one.Email)
		}
		setOrDelete(spec, "maintainers", list)
	}
	if m.Links != nil {
		list := make([]any, len(m.Links))
		for i, one := range m.Links {
			list[i] = mapOf("name", one.Name, "url", one.URL)
		}
		setOrDelete(spec, "links", list)
	}
	if m.Icon != nil {
		spec["icon"] = []any{map[string]any{"base64data": base64.StdEncoding.EncodeToString(m.Icon.Data), "mediatype": m.Icon.MediaType}}
	}
}

func setOrDelete(m map[string]any, key string, list []any) {
	if len(list) == 0 {
		delete(m, key)
		return
	}
	m[key] = list
}

// mapOf returns a map of two entries without empty values.
func mapOf(key, value, otherKey, otherValue string) map[string]any {
	m := map[string]any{}
	if value != "" {
		m[key] = value
	}
	if otherValue != "" {
		m[otherKey] = otherValue
	}
	return m
}

// text returns a value that is a string, or "".
func text(value any) string {
	s, _ := value.(string)
	return s
}
