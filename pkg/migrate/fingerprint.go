package migrate

import (
	"bytes"
	"cmp"
	_ "embed" // the fingerprints
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/merge"
)

// fingerprints.txt contains the scaffolds of releases as hashes of facts (see merge.Fact) without the names of the
// project. That is enough to merge, and to tell the user's text from what releases wrote without a copy of it.
// TestRecord writes the file. It is parsed only for upgrades.
//
// The first line lists the releases. Each other line contains a file name, the set of releases (a hexadecimal number
// with bit i for release i), and the hashes of facts that the file has in exactly these releases.
//
//go:embed fingerprints.txt
var fingerprintText string

// fingerprints_helm.txt and fingerprints_ansible.txt contain the scaffolds of Helm and Ansible projects in the same form.
// TestRecordRuntimes writes them.
//
//go:embed fingerprints_helm.txt
var helmFingerprintText string

//go:embed fingerprints_ansible.txt
var ansibleFingerprintText string

// HelmLayout and AnsibleLayout are the layouts of projects whose program comes from their base image.
const (
	HelmLayout    = "helm/v1"
	AnsibleLayout = "ansible/v1"
)

// usesRuntime reports whether projects with a layout get their program from the base image.
func usesRuntime(layout string) bool { return layout != "" && !strings.HasPrefix(layout, "go/") }

// ComponentConfig is the suffix of the layout of projects whose manager reads its options from a file.
const ComponentConfig = "+config"

// Release is a release of a program that scaffolds projects.
type Release struct {
	// Tool is kubebuilder, operator-sdk or operon, Version its version without v, Layout the plugin of the project.
	Tool, Version, Layout string
}

// ownTool is the Tool of this program's earlier scaffolds. Those before its first release have versions up to 0.1.
const ownTool = "operon"

func (r Release) String() string {
	if r.Tool == "" {
		return "this program"
	}
	text := r.Tool + " " + r.Version
	if r.Layout != "go/v4" && !usesRuntime(r.Layout) {
		text += " (" + r.Layout + ")"
	}
	return text
}

func compareReleases(a, b Release) int {
	return cmp.Or(cmp.Compare(a.Tool, b.Tool), compareVersions(a.Version, b.Version), cmp.Compare(a.Layout, b.Layout))
}

// compareVersions compares two versions of up to three numbers.
func compareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		if n := cmp.Compare(number(x, i), number(y, i)); n != 0 {
			return n
		}
	}
	return 0
}

func number(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return -1
	}
	return n
}

// Fingerprints describe the scaffolds of releases.
type Fingerprints struct {
	releases []Release
	// files maps files and hashes of facts to the releases that state them: bit i for release i.
	files map[string]map[uint64]*big.Int
	// newest is the version of the newest known release of kubebuilder.
	newest string
}

// ReadFingerprints reads the fingerprints of the supported releases for projects with a layout: HelmLayout, AnsibleLayout, or one of Go.
// There are none for other layouts.
func ReadFingerprints(layout string) (*Fingerprints, error) {
	switch {
	case layout == HelmLayout:
		return parseFingerprints(helmFingerprintText)
	case layout == AnsibleLayout:
		return parseFingerprints(ansibleFingerprintText)
	case usesRuntime(layout):
		return parseFingerprints("")
	}
	return parseFingerprints(fingerprintText)
}

func parseFingerprints(text string) (*Fingerprints, error) {
	f := &Fingerprints{files: map[string]map[uint64]*big.Int{}}
	first, rest, _ := strings.Cut(text, "\n")
	for name := range strings.FieldsSeq(first) {
		parts := strings.SplitN(name, "@", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("fingerprints: %q is not a release", name)
		}
		f.releases = append(f.releases, Release{parts[0], parts[1], parts[2]})
		if parts[0] == "kubebuilder" && compareVersions(parts[1], f.newest) > 0 {
			f.newest = parts[1]
		}
	}
	for line := range strings.Lines(rest) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			return nil, fmt.Errorf("fingerprints: line %q must have a file and a set of releases", strings.TrimSpace(line))
		}
		set, ok := new(big.Int).SetString(fields[1], 16)
		if !ok {
			return nil, fmt.Errorf("fingerprints: %q is not a set of releases", fields[1])
		}
		facts := f.files[fields[0]]
		if facts == nil {
			facts = map[uint64]*big.Int{}
			f.files[fields[0]] = facts
		}
		for _, field := range fields[2:] {
			raw, err := base64.RawStdEncoding.DecodeString(field)
			if err != nil || len(raw) != 8 {
				return nil, fmt.Errorf("fingerprints: %q is not a hash", field)
			}
			facts[binary.BigEndian.Uint64(raw)] = set
		}
	}
	return f, nil
}

// Releases lists the releases, ordered by tool and version.
func (f *Fingerprints) Releases() []Release {
	return slices.SortedFunc(slices.Values(f.releases), compareReleases)
}

// NewestKubebuilder returns the version of the newest known release of kubebuilder, such as 4.16, whatever Only wanted.
func (f *Fingerprints) NewestKubebuilder() string { return f.newest }

// IsNewer reports whether a version of kubebuilder, as in PROJECT, is newer than the newest known release.
func (f *Fingerprints) IsNewer(version string) bool {
	return version != "" && f.newest != "" && compareVersions(minor(version), f.newest) > 0
}

// Only returns the fingerprints of the wanted releases.
func (f *Fingerprints) Only(wanted func(Release) bool) *Fingerprints {
	only := &Fingerprints{files: map[string]map[uint64]*big.Int{}, newest: f.newest}
	var indexes []int
	for i, r := range f.releases {
		if wanted(r) {
			only.releases, indexes = append(only.releases, r), append(indexes, i)
		}
	}
	for name, facts := range f.files {
		remaining := map[uint64]*big.Int{}
		for hash, set := range facts {
			bits := new(big.Int)
			for to, from := range indexes {
				bits.SetBit(bits, to, set.Bit(from))
			}
			if bits.Sign() > 0 {
				remaining[hash] = bits
			}
		}
		if len(remaining) > 0 {
			only.files[name] = remaining
		}
	}
	return only
}

// Missing lists the files of a project that state something that a release does not.
func (f *Fingerprints) Missing(r Release, names Names, content Content, files map[string][]byte) []string {
	bit, z := slices.Index(f.releases, r), newNormalizer(names)
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !Scaffolded(name) {
			continue
		}
		b := &base{facts: f.files[name], bit: bit, content: content, normalizer: z, known: map[string]bool{}}
		if slices.ContainsFunc(facts(name, files[name]), func(fact merge.Fact) bool { return bit < 0 || !b.Has(fact) }) {
			missing = append(missing, name)
		}
	}
	return missing
}

// Content is the content of a project.
type Content int

const (
	// NoAPI is a project without resources, WithAPI one with resources, and WithWebhooks one that also has webhooks.
	NoAPI Content = iota
	WithAPI
	WithWebhooks
)

// contentText returns a fact, as one string, for projects with at least a content. A missing unit was removed by the
// user only if the release writes it in projects of that content.
func contentText(f merge.Fact, content Content) string {
	f.Part += merge.Part(strconv.Itoa(int(content)))
	return factText(f)
}

// base is a file of one release. It implements merge.Base.
type base struct {
	facts      map[uint64]*big.Int
	bit        int
	content    Content
	normalizer *normalizer
	// known caches facts.
	known map[string]bool
}

func (b *base) Has(f merge.Fact) bool {
	if f.Part == merge.Exists {
		for content := NoAPI; content <= b.content; content++ {
			if b.has(contentText(f, content)) {
				return true
			}
		}
		return false
	}
	return b.has(factText(f))
}

func (b *base) has(text string) bool {
	if b.bit < 0 { // of no release
		return false
	}
	has, ok := b.known[text]
	if !ok {
		has = slices.ContainsFunc(b.normalizer.formsIn(b.facts, text), func(hash uint64) bool {
			set := b.facts[hash]
			return set != nil && set.Bit(b.bit) == 1
		})
		b.known[text] = has
	}
	return has
}

// facts returns the facts of a file. If it cannot be parsed, the entire file is one unit.
func facts(name string, text []byte) []merge.Fact {
	all, err := merge.FileFacts(name, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	if err != nil {
		return merge.Facts(merge.ParseOpaque(text))
	}
	return all
}
