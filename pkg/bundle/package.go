package bundle

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Package is a package manifest: the channels of a package and the CSV at the head of each. It is what
// PACKAGE.package.yaml of operator-registry's package manifest format holds.
type Package struct {
	manifests.PackageManifest

	doc manifest.Document
	// fields is the file as read, with keys that the format does not know.
	fields map[string]any
	text   []byte
}

// PackageFile is the file name of a package manifest.
func PackageFile(pkg string) string { return pkg + ".package.yaml" }

// NewPackage is the manifest of a package without channels.
func NewPackage(name string) *Package {
	return &Package{PackageManifest: manifests.PackageManifest{PackageName: name}, fields: map[string]any{}}
}

// ParsePackage reads a package manifest. The problems are all that is wrong with it; a default channel
// that is not in the list is not among them, see CheckDefault.
func ParsePackage(file string, data []byte) (*Package, manifest.Problems) {
	docs, problems := manifest.Documents(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	if len(docs) != 1 {
		return nil, manifest.Problems{{Position: manifest.Position{File: file},
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

// Locate finds the place of a field in the file that the package was read from.
func (p *Package) Locate(steps ...string) manifest.Position { return p.doc.Locate(steps...) }

func (p *Package) check() manifest.Problems {
	var problems manifest.Problems
	add := func(at manifest.Position, format string, args ...any) {
		problems = append(problems, manifest.Problem{Position: at, Problem: fmt.Sprintf(format, args...)})
	}
	if p.PackageName == "" {
		add(p.Locate(), "packageName is missing; write the name of the package")
	}
	seen := map[string]int{}
	for i, c := range p.Channels {
		at := func(key string) manifest.Position { return p.Locate("channels", strconv.Itoa(i), key) }
		switch first, again := seen[c.Name]; {
		case c.Name == "":
			add(at("name"), "channels[%d] has no name", i)
		case again:
			add(at("name"), "channel %s is there twice, first at %s; keep one of them", c.Name, p.Locate("channels", strconv.Itoa(first), "name"))
		default:
			seen[c.Name] = i
		}
		if c.CurrentCSVName == "" {
			add(at("currentCSV"), "channels[%d] has no currentCSV; write the name of the CSV at the channel's head", i)
		}
	}
	if p.DefaultChannelName == "" && len(p.Channels) > 1 {
		add(p.Locate(), "defaultChannel is missing, and there is more than one channel; name one of them")
	}
	return problems
}

// CheckDefault tells whether the default channel is none of the package's channels.
func (p *Package) CheckDefault() manifest.Problems {
	if p.DefaultChannelName == "" || slices.ContainsFunc(p.Channels, func(c manifests.PackageChannel) bool { return c.Name == p.DefaultChannelName }) {
		return nil
	}
	return manifest.Problems{{Position: p.Locate("defaultChannel"),
		Problem: fmt.Sprintf("defaultChannel: there is no channel %s in the list of channels", p.DefaultChannelName)}}
}

// Default is the default channel: where none is named, the only one.
func (p *Package) Default() string {
	if p.DefaultChannelName == "" && len(p.Channels) == 1 {
		return p.Channels[0].Name
	}
	return p.DefaultChannelName
}

// Head puts a CSV at the head of a channel, which becomes the default channel if it is the only one or
// shall be it. Without a channel only a package that has none changes: its first channel is alpha.
func (p *Package) Head(channel, csv string, isDefault bool) {
	if channel == "" {
		if len(p.Channels) > 0 {
			return
		}
		channel = DefaultChannel
	}
	i := slices.IndexFunc(p.Channels, func(c manifests.PackageChannel) bool { return c.Name == channel })
	if i < 0 {
		p.DefaultChannelName = p.Default() // the only channel was it without saying so
		i = len(p.Channels)
		p.Channels = append(p.Channels, manifests.PackageChannel{Name: channel})
	}
	p.Channels[i].CurrentCSVName = csv
	slices.SortStableFunc(p.Channels, func(a, b manifests.PackageChannel) int { return strings.Compare(a.Name, b.Name) })
	if isDefault || len(p.Channels) == 1 {
		p.DefaultChannelName = channel
	}
}

// HeadOf lists the channels that a CSV is the head of, in the order of the file.
func (p *Package) HeadOf(csv string) []string {
	var channels []string
	for _, c := range p.Channels {
		if c.CurrentCSVName == csv {
			channels = append(channels, c.Name)
		}
	}
	return channels
}

// Bytes writes the package manifest. A file in which nothing changes stays as it was read; keys that the
// format does not know stay in any case, comments unless the file is written with anchors.
func (p *Package) Bytes() ([]byte, error) {
	var before manifests.PackageManifest
	if p.text != nil {
		if _, problems := p.doc.Into(&before); len(problems) == 0 && equalPackages(before, p.PackageManifest) {
			return p.text, nil
		}
		if bytes.Contains(p.text, []byte("#")) {
			if text, ok := p.commented(); ok {
				return text, nil
			}
		}
	}
	known, err := manifest.Fields(p.PackageManifest)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	for key, value := range p.fields {
		fields[key] = value
	}
	for key, value := range known {
		fields[key] = value
	}
	return manifest.Encode(fields)
}

func equalPackages(a, b manifests.PackageManifest) bool {
	return a.PackageName == b.PackageName && a.DefaultChannelName == b.DefaultChannelName && slices.Equal(a.Channels, b.Channels)
}

// commented writes the changes into the file as it is, with its comments. It reports false where that
// would not give the package.
func (p *Package) commented() ([]byte, bool) {
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

// child gives the value of a key of a mapping, which gets the key if it lacks it.
func child(mapping *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			value := mapping.Content[i+1]
			value.Kind = kind
			return value
		}
	}
	value := &yaml.Node{Kind: kind}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	return value
}

// setText gives a key of a mapping a text, quoted where YAML would read something else.
func setText(mapping *yaml.Node, key, text string) {
	value := child(mapping, key, yaml.ScalarNode)
	if value.Value != text {
		comment := value.LineComment
		value.SetString(text)
		value.LineComment = comment
	}
}
