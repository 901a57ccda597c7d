package migrate

import (
	"encoding/base64"
	"encoding/binary"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// Tree is a scaffolded project whose files are recorded.
type Tree struct {
	// Releases are the releases that scaffold it. Containing are releases of another program that contain one of them
	// and scaffold more.
	Releases, Containing []Release
	Names                Names
	Content              Content
	Files                map[string][]byte
	// Edited lists edited files, which are ignored.
	Edited []string
}

// Record returns the text of fingerprints.txt for projects scaffolded by releases. Projects of the same release, such
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
	return (&Fingerprints{releases: releases, files: map[string]map[uint64]*big.Int{}}).with(trees)
}

// Extend returns the text of fingerprints.txt with more releases, or with more projects of its releases.
func Extend(text string, trees []Tree) (string, error) {
	f, err := parseFingerprints(text)
	if err != nil {
		return "", err
	}
	for _, t := range trees {
		f.addReleases(slices.Concat(t.Releases, t.Containing))
	}
	return f.with(trees), nil
}

// addReleases adds releases after the existing ones, whose numbers do not change.
func (f *Fingerprints) addReleases(releases []Release) {
	for _, r := range releases {
		if !slices.Contains(f.releases, r) {
			f.releases = append(f.releases, r)
		}
	}
}

// with adds trees and returns the text of the file.
func (f *Fingerprints) with(trees []Tree) string {
	r := &recorder{releases: f.releases, files: f.files, trees: map[census]int{}, having: map[string]map[uint64]map[census]int{}}
	for _, t := range trees {
		r.add(t)
	}
	r.recordExistence()
	return f.text()
}

func (f *Fingerprints) text() string {
	files := f.files
	var b strings.Builder
	for i, r := range f.releases {
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

// A recorder collects the facts of trees.
type recorder struct {
	releases []Release
	// files maps files and hashes of facts to the releases that state them.
	files map[string]map[uint64]*big.Int
	// trees counts the trees of a release; units counts the ones in which a unit exists.
	trees  map[census]int
	having map[string]map[uint64]map[census]int
}

// A census is a group of trees: by release, content, and whether another program's release contains the tree's release.
type census struct {
	release    int
	content    Content
	containing bool
}

func (r *recorder) add(t Tree) {
	z := newNormalizer(t.Names)
	direct, containing := r.censuses(t.Releases, t.Content, false), r.censuses(t.Containing, t.Content, true)
	for _, c := range slices.Concat(direct, containing) {
		r.trees[c]++
	}
	for name, text := range t.Files {
		if !Scaffolded(name) || slices.Contains(t.Edited, name) {
			continue
		}
		if r.files[name] == nil {
			r.files[name] = map[uint64]*big.Int{}
		}
		if r.having[name] == nil {
			r.having[name] = map[uint64]map[census]int{}
		}
		for _, fact := range facts(name, text) {
			if fact.Part != merge.Exists {
				for _, hash := range z.recorded(factText(fact)) {
					for _, c := range slices.Concat(direct, containing) {
						state(r.files[name], hash, c.release)
					}
				}
				continue
			}
			for _, hash := range z.recorded(contentText(fact, t.Content)) {
				if r.having[name][hash] == nil {
					r.having[name][hash] = map[census]int{}
				}
				for _, c := range slices.Concat(direct, containing) {
					r.having[name][hash][c]++
				}
			}
		}
	}
}

func (r *recorder) censuses(releases []Release, content Content, containing bool) []census {
	var all []census
	for _, release := range releases {
		all = append(all, census{slices.Index(r.releases, release), content, containing})
	}
	return all
}

// state records that a release states a fact. Sets are shared by facts.
func state(facts map[uint64]*big.Int, hash uint64, release int) {
	set := new(big.Int)
	if before := facts[hash]; before != nil {
		set.Set(before)
	}
	facts[hash] = set.SetBit(set, release, 1)
}

// recordExistence records that a unit exists if most trees of the release and content have it. A unit of a variant of
// the scaffold that is missing in a project was not removed by the user.
func (r *recorder) recordExistence() {
	for name, hashes := range r.having {
		for hash, counts := range hashes {
			for c, n := range counts {
				if 2*n > r.trees[c] {
					state(r.files[name], hash, c.release)
				}
			}
		}
	}
}

// recorded returns the hashes of the recorded forms of a fact: without the names of the project and, if it contains
// names of a resource, its version among them, without these.
func (z *normalizer) recorded(text string) []uint64 {
	forms := []uint64{textdiff.Hash(z.project[0].Replace(text))}
	for _, r := range z.resources {
		form := r.Replace(text)
		if slices.ContainsFunc([]string{"\x01K", "\x01k", "\x01s", "\x01g", "\x01v"}, func(name string) bool { return strings.Contains(form, name) }) {
			if h := textdiff.Hash(form); !slices.Contains(forms, h) {
				forms = append(forms, h)
			}
		}
	}
	return forms
}
