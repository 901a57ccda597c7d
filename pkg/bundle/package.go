package bundle

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A Package is a package manifest: the channels of a package and the CSV at the head of each. It is the content of
// PACKAGE.package.yaml in operator-registry's package manifest format.
type Package struct {
	manifests.PackageManifest

	doc manifest.Document
	// fields is the content of the file, including keys outside the format.
	fields map[string]any
	text   []byte
}

// PackageFile returns the file name of a package manifest.
func PackageFile(pkg string) string { return pkg + ".package.yaml" }

// NewPackage returns the manifest of a package without channels.
func NewPackage(name string) *Package {
	return &Package{PackageManifest: manifests.PackageManifest{PackageName: name}, fields: map[string]any{}}
}

// ParsePackage reads a package manifest. It reports every problem except an unlisted default channel; see CheckDefault.
func ParsePackage(file string, data []byte) (*Package, diag.Findings) {
	docs, problems := manifest.Documents(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	if len(docs) != 1 {
		return nil, diag.Findings{{Position: diag.Position{File: file},
			Problem: fmt.Sprintf("holds %d documents instead of one package manifest", len(docs))}}
	}
	p := &Package{doc: docs[0], text: data}
	if p.fields, problems = p.doc.Into(&p.PackageManifest); len(problems) > 0 {
		return nil, problems
	}
	if problems = p.check(); len(problems) > 0 {
		return nil, problems
	}
	return p, nil
}

// Locate returns the position of a field in the file that the package was read from.
func (p *Package) Locate(steps ...string) diag.Position { return p.doc.Locate(steps...) }

func (p *Package) check() diag.Findings {
	var problems diag.Findings
	if p.PackageName == "" {
		problems.Addf(p.Locate(), "packageName is required")
	}
	seen := map[string]int{}
	for i, c := range p.Channels {
		at := func(key string) diag.Position { return p.Locate("channels", strconv.Itoa(i), key) }
		switch first, again := seen[c.Name]; {
		case c.Name == "":
			problems.Addf(at("name"), "channels[%d] has no name", i)
		case again:
			problems.Addf(at("name"), "duplicate channel %s, first at %s; keep one of them", c.Name, p.Locate("channels", strconv.Itoa(first), "name"))
		default:
			seen[c.Name] = i
		}
		if c.CurrentCSVName == "" {
			problems.Addf(at("currentCSV"), "channels[%d] has no currentCSV; set the name of the CSV at the channel's head", i)
		}
	}
	if p.DefaultChannelName == "" && len(p.Channels) > 1 {
		problems.Addf(p.Locate(), "defaultChannel is required, because there is more than one channel")
	}
	return problems
}

// CheckDefault reports a default channel that is not in the list of channels.
func (p *Package) CheckDefault() diag.Findings {
	if p.DefaultChannelName == "" || slices.ContainsFunc(p.Channels, func(c manifests.PackageChannel) bool { return c.Name == p.DefaultChannelName }) {
		return nil
	}
	return diag.Findings{{Position: p.Locate("defaultChannel"),
		Problem: fmt.Sprintf("defaultChannel %s is not in the list of channels", p.DefaultChannelName)}}
}

// Default returns the default channel, which is the only channel if none is set.
func (p *Package) Default() string {
	if p.DefaultChannelName == "" && len(p.Channels) == 1 {
		return p.Channels[0].Name
	}
	return p.DefaultChannelName
}

// SetHead sets the CSV at the head of a channel and adds the channel if necessary. The channel becomes the default if it
// is the only one or isDefault is set. An empty channel means alpha for a package without channels and no change for any
// other.
func (p *Package) SetHead(channel, csv string, isDefault bool) {
	if channel == "" {
		if len(p.Channels) > 0 {
			return
		}
		channel = DefaultChannel
	}
	i := slices.IndexFunc(p.Channels, func(c manifests.PackageChannel) bool { return c.Name == channel })
	if i < 0 {
		p.DefaultChannelName = p.Default() // implicit while there was one channel
		i = len(p.Channels)
		p.Channels = append(p.Channels, manifests.PackageChannel{Name: channel})
	}
	p.Channels[i].CurrentCSVName = csv
	slices.SortStableFunc(p.Channels, func(a, b manifests.PackageChannel) int { return strings.Compare(a.Name, b.Name) })
	if isDefault || len(p.Channels) == 1 {
		p.DefaultChannelName = channel
	}
}

// ChannelsOf returns the channels whose head is a CSV, in file order.
func (p *Package) ChannelsOf(csv string) []string {
	var channels []string
	for _, c := range p.Channels {
		if c.CurrentCSVName == csv {
			channels = append(channels, c.Name)
		}
	}
	return channels
}

// Bytes returns the package manifest. Without changes it is the file as read. Keys outside the format are kept, and so are
// comments unless the file has anchors.
func (p *Package) Bytes() ([]byte, error) {
	var before manifests.PackageManifest
	if p.text != nil {
		if _, problems := p.doc.Into(&before); len(problems) == 0 && equalPackages(before, p.PackageManifest) {
			return p.text, nil
		}
		if bytes.Contains(p.text, []byte("#")) {
			if text, ok := p.editInPlace(); ok {
				return text, nil
			}
		}
	}
	known, err := manifest.Fields(p.PackageManifest)
	if err != nil {
		return nil, err
	}
	fields := maps.Clone(p.fields)
	maps.Copy(fields, known)
	return manifest.Encode(fields)
}

func equalPackages(a, b manifests.PackageManifest) bool {
	return a.PackageName == b.PackageName && a.DefaultChannelName == b.DefaultChannelName && slices.Equal(a.Channels, b.Channels)
}

// editInPlace applies the changes to the text of the file, with its comments. It reports false if the result would differ
// from the package.
func (p *Package) editInPlace() ([]byte, bool) {
	var doc yaml.Node
	if err := safeyaml.Unmarshal(p.text, &doc); err != nil || bytes.ContainsAny(p.text, "&*") || len(doc.Content) == 0 {
		return nil, false
	}
	root := doc.Content[0]
	list := child(root, "channels", yaml.SequenceNode)
	list.Style, list.Tag, list.Value = 0, "", ""
	byName := map[string]*yaml.Node{}
	for _, item := range list.Content {
		byName[child(item, "name", yaml.ScalarNode).Value] = item
	}
	list.Content = nil
	for _, c := range p.Channels {
		item := byName[c.Name]
		if item == nil {
			item = &yaml.Node{Kind: yaml.MappingNode}
		}
		setText(item, "currentCSV", c.CurrentCSVName)
		setText(item, "name", c.Name)
		list.Content = append(list.Content, item)
	}
	if p.DefaultChannelName != "" {
		setText(root, "defaultChannel", p.DefaultChannelName)
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(&doc); err != nil {
		return nil, false
	}
	written, problems := ParsePackage(p.doc.File, b.Bytes())
	return b.Bytes(), len(problems) == 0 && equalPackages(written.PackageManifest, p.PackageManifest)
}

// child returns the value of a key of a mapping and adds the key if necessary.
func child(mapping *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	if value := safeyaml.Child(mapping, key); value != nil {
		value.Kind = kind
		return value
	}
	value := &yaml.Node{Kind: kind}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	return value
}

// setText sets a key of a mapping to a string, quoted if necessary.
func setText(mapping *yaml.Node, key, text string) {
	value := child(mapping, key, yaml.ScalarNode)
	if value.Value != text {
		comment := value.LineComment
		value.SetString(text)
		value.LineComment = comment
	}
}
