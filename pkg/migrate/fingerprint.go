package migrate

import (
	"bytes"
	"cmp"
	_ "embed" // fingerprints.txt
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

// fingerprints.txt holds what other programs scaffold, as hashes of facts (see merge.Fact) without the names of the
// project: enough to distinguish the user's text from theirs and to merge, without a copy of their texts. TestRecord
// writes it. It is parsed only where a project is upgraded.
//
// The first line lists the releases. Each other line names a file, the set of releases (a hexadecimal number with bit i
// for release i), and the hashes of facts that the file has in exactly these releases.
//
//go:embed fingerprints.txt
var fingerprintText string

// ComponentConfig is the end of the layout of projects whose manager reads its options from a file.
const ComponentConfig = "+config"

// Release is a release of a program that scaffolds projects.
type Release struct {
	// Tool is kubebuilder, operator-sdk or operon, Version its version without a v, Layout the plugin that scaffolds.
	Tool, Version, Layout string
}

// ownTool is this program as the Tool of its earlier scaffolds. Those before its first release are of version 0.0.
const ownTool = "operon"

func (r Release) String() string {
	if r.Tool == "" {
		return "this program"
	}
	text := r.Tool + " " + r.Version
	if r.Layout != "go/v4" {
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

// Fingerprints describe what releases scaffold.
type Fingerprints struct {
	releases []Release
	// files holds, by file and hash of a fact, the releases that state it: bit i for release i.
	files map[string]map[uint64]*big.Int
}

// ReadFingerprints reads the fingerprints of the releases that this program supports. An error is a defect of it.
func ReadFingerprints() (*Fingerprints, error) { return parseFingerprints(fingerprintText) }

func parseFingerprints(text string) (*Fingerprints, error) {
	f := &Fingerprints{files: map[string]map[uint64]*big.Int{}}
	first, rest, _ := strings.Cut(text, "\n")
	for name := range strings.FieldsSeq(first) {
		parts := strings.SplitN(name, "@", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("fingerprints.txt: %q is not a release", name)
		}
		f.releases = append(f.releases, Release{parts[0], parts[1], parts[2]})
	}
	for line := range strings.Lines(rest) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			return nil, fmt.Errorf("fingerprints.txt: line %q must have a file and a set of releases", strings.TrimSpace(line))
		}
		set, ok := new(big.Int).SetString(fields[1], 16)
		if !ok {
			return nil, fmt.Errorf("fingerprints.txt: %q is not a set of releases", fields[1])
		}
		facts := f.files[fields[0]]
		if facts == nil {
			facts = map[uint64]*big.Int{}
			f.files[fields[0]] = facts
		}
		for _, field := range fields[2:] {
			raw, err := base64.RawStdEncoding.DecodeString(field)
			if err != nil || len(raw) != 8 {
				return nil, fmt.Errorf("fingerprints.txt: %q is not a hash", field)
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

// Only returns the fingerprints of the wanted releases.
func (f *Fingerprints) Only(wanted func(Release) bool) *Fingerprints {
	only := &Fingerprints{files: map[string]map[uint64]*big.Int{}}
	var indexes []int
	for i, r := range f.releases {
		if wanted(r) {
			only.releases, indexes = append(only.releases, r), append(indexes, i)
		}
	}
	for name, facts := range f.files {
		left := map[uint64]*big.Int{}
		for hash, set := range facts {
			bits := new(big.Int)
			for to, from := range indexes {
				bits.SetBit(bits, to, set.Bit(from))
			}
			if bits.Sign() > 0 {
				left[hash] = bits
			}
		}
		if len(left) > 0 {
			only.files[name] = left
		}
	}
	return only
}

// Stage is how far a project has come.
type Stage int

const (
	// Initialized is a project without resources, WithAPI one with resources, and WithWebhooks one with webhooks, too.
	Initialized Stage = iota
	WithAPI
	WithWebhooks
)

// stagedText returns a fact in one string that holds from a stage on. That a scaffold writes something says that the
// user removed what is missing only if it writes it in projects of the stage.
func stagedText(f merge.Fact, stage Stage) string {
	f.Part += merge.Part(strconv.Itoa(int(stage)))
	return factText(f)
}

// base is what one release states in one file. It implements merge.Base.
type base struct {
	facts      map[uint64]*big.Int
	bit        int
	stage      Stage
	normalizer *normalizer
	// known holds facts that were asked for.
	known map[string]bool
}

func (b *base) Has(f merge.Fact) bool {
	if f.Part == merge.Exists {
		for stage := Initialized; stage <= b.stage; stage++ {
			if b.has(stagedText(f, stage)) {
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
		has = slices.ContainsFunc(b.normalizer.forms(text), func(hash uint64) bool {
			set := b.facts[hash]
			return set != nil && set.Bit(b.bit) == 1
		})
		b.known[text] = has
	}
	return has
}

// Tree is a scaffolded project whose files are recorded.
type Tree struct {
	// Releases are those that scaffold it so. Containing are releases of another program that contain one of them, and
	// scaffold more.
	Releases, Containing []Release
	Names                Names
	Stage                Stage
	Files                map[string][]byte
	// Edited lists files that someone edited. They do not count.
	Edited []string
}

// Record returns the text of fingerprints.txt for projects as releases scaffolded them. Trees of the same release, such
// as those with and without webhooks, are recorded together.
func Record(trees []Tree) string {
	var releases []Release
	for _, t := range trees {
		for _, r := range slices.Concat(t.Releases, t.Containing) {
			if !slices.Contains(releases, r) {
				releases = append(releases, r)
			}
		}
	}
	slices.SortFunc(releases, compareReleases)
	r := &recorder{releases: releases, files: map[string]map[uint64]*big.Int{}, trees: map[census]int{}, having: map[string]map[uint64]map[census]int{}}
	for _, t := range trees {
		r.add(t)
	}
	r.settleExistence()
	files := r.files
	var b strings.Builder
	for i, r := range releases {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(r.Tool + "@" + r.Version + "@" + r.Layout)
	}
	b.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(files)) {
		bySet := map[string][]uint64{}
		for hash, set := range files[name] {
			bySet[set.Text(16)] = append(bySet[set.Text(16)], hash)
		}
		for _, set := range slices.Sorted(maps.Keys(bySet)) {
			b.WriteString(name + " " + set)
			for _, hash := range slices.Sorted(slices.Values(bySet[set])) {
				b.WriteString(" " + base64.RawStdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, hash)))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// recorder collects the facts of trees.
type recorder struct {
	releases []Release
	// files holds, by file and hash of a fact, the releases that state it.
	files map[string]map[uint64]*big.Int
	// trees counts the trees of a release, having those of them in which a unit exists.
	trees  map[census]int
	having map[string]map[uint64]map[census]int
}

// census is what trees are counted by: release, stage, and whether it is another program's release that contains the one
// of the tree.
type census struct {
	release    int
	stage      Stage
	containing bool
}

func (r *recorder) add(t Tree) {
	z := newNormalizer(t.Names)
	own, containing := r.censuses(t.Releases, t.Stage, false), r.censuses(t.Containing, t.Stage, true)
	for _, c := range slices.Concat(own, containing) {
		r.trees[c]++
	}
	for name, text := range t.Files {
		if !Scaffolded(name) || slices.Contains(t.Edited, name) {
			continue
		}
		if r.files[name] == nil {
			r.files[name], r.having[name] = map[uint64]*big.Int{}, map[uint64]map[census]int{}
		}
		for _, fact := range facts(name, text) {
			if fact.Part != merge.Exists {
				for _, hash := range z.recorded(factText(fact)) {
					for _, c := range slices.Concat(own, containing) {
						r.state(name, hash, c.release)
					}
				}
				continue
			}
			for _, hash := range z.recorded(stagedText(fact, t.Stage)) {
				if r.having[name][hash] == nil {
					r.having[name][hash] = map[census]int{}
				}
				for _, c := range slices.Concat(own, containing) {
					r.having[name][hash][c]++
				}
			}
		}
	}
}

func (r *recorder) censuses(releases []Release, stage Stage, containing bool) []census {
	var all []census
	for _, release := range releases {
		all = append(all, census{slices.Index(r.releases, release), stage, containing})
	}
	return all
}

// state records that a release states a fact.
func (r *recorder) state(name string, hash uint64, release int) {
	set := r.files[name][hash]
	if set == nil {
		set = new(big.Int)
		r.files[name][hash] = set
	}
	set.SetBit(set, release, 1)
}

// settleExistence records that a unit exists where most trees of the release and stage have it. That a project lacks what
// only a variant of the scaffold writes does not mean that the user removed it.
func (r *recorder) settleExistence() {
	for name, hashes := range r.having {
		for hash, counts := range hashes {
			for c, n := range counts {
				if 2*n > r.trees[c] {
					r.state(name, hash, c.release)
				}
			}
		}
	}
}

// Missing lists the files of a tree that state something that a release does not.
func (f *Fingerprints) Missing(r Release, t Tree) []string {
	bit, z := slices.Index(f.releases, r), newNormalizer(t.Names)
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(t.Files)) {
		if !Scaffolded(name) {
			continue
		}
		b := &base{facts: f.files[name], bit: bit, stage: t.Stage, normalizer: z, known: map[string]bool{}}
		if slices.ContainsFunc(facts(name, t.Files[name]), func(fact merge.Fact) bool { return bit < 0 || !b.Has(fact) }) {
			missing = append(missing, name)
		}
	}
	return missing
}

// facts returns what a file states; the whole file is one unit if it cannot be parsed.
func facts(name string, text []byte) []merge.Fact {
	all, err := merge.FileFacts(name, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	if err != nil {
		return merge.Facts(merge.ParseOpaque(text))
	}
	return all
}
