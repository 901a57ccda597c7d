package upgrade

import (
	"bytes"
	"cmp"
	_ "embed" // known.txt
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// known.txt holds what other scaffolds write, as hashes of lines: enough to distinguish the user's lines from theirs
// and to merge, without a copy of their texts. TestRecord writes it. It is parsed only where a project is upgraded.
//
//go:embed known.txt
var knownText string

// Scaffold is one that known.txt describes.
type Scaffold struct {
	// Tool is kubebuilder or operator-sdk, Version the one without a v, Layout what it was asked for.
	Tool, Version, Layout string
}

func (s Scaffold) String() string {
	if s.Tool == "" {
		return "this program"
	}
	text := s.Tool + " " + s.Version
	if s.Layout != "go/v4" {
		text += " (" + s.Layout + ")"
	}
	return text
}

// knownLine is a line of a scaffold: its hash without names and versions, and the versions.
type knownLine struct {
	hash     uint64
	versions []string
}

// knownFile is a file of one or several scaffolds.
type knownFile struct {
	scaffolds []Scaffold
	lines     []knownLine
}

// Known is what known.txt says.
type Known struct {
	files map[string][]knownFile
	// hashes are those of all lines that any scaffold has in a file.
	hashes map[string]map[uint64]bool
}

// ReadKnown reads what other scaffolds write. It is part of the program, an error is a defect of it.
func ReadKnown() (*Known, error) { return parseKnown(knownText) }

func parseKnown(text string) (*Known, error) {
	k := &Known{files: map[string][]knownFile{}, hashes: map[string]map[uint64]bool{}}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			return nil, fmt.Errorf("known.txt: %q is no line of it", strings.TrimSpace(line))
		}
		var f knownFile
		for name := range strings.SplitSeq(fields[1], ",") {
			parts := strings.SplitN(name, "@", 3)
			if len(parts) != 3 {
				return nil, fmt.Errorf("known.txt: %q names no scaffold", name)
			}
			f.scaffolds = append(f.scaffolds, Scaffold{parts[0], parts[1], parts[2]})
		}
		for _, field := range fields[2:] {
			hash, versions, found := strings.Cut(field, "@")
			raw, err := base64.RawStdEncoding.DecodeString(hash)
			if err != nil || len(raw) != 8 {
				return nil, fmt.Errorf("known.txt: %q is no hash", field)
			}
			l := knownLine{hash: binary.BigEndian.Uint64(raw)}
			if found {
				l.versions = strings.Split(versions, ",")
			}
			f.lines = append(f.lines, l)
		}
		name := fields[0]
		k.files[name] = append(k.files[name], f)
		if k.hashes[name] == nil {
			k.hashes[name] = map[uint64]bool{}
		}
		for _, l := range f.lines {
			k.hashes[name][l.hash] = true
		}
	}
	return k, nil
}

// Scaffolds lists the scaffolds, later versions of a tool first.
func (k *Known) Scaffolds() []Scaffold {
	seen := map[Scaffold]bool{}
	for _, files := range k.files {
		for _, f := range files {
			for _, s := range f.scaffolds {
				seen[s] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b Scaffold) int {
		if n := cmp.Compare(a.Tool, b.Tool); n != 0 {
			return n
		}
		if a.Version == b.Version {
			return cmp.Compare(b.Layout, a.Layout)
		}
		if later(a.Version, b.Version) {
			return -1
		}
		return 1
	})
}

// Only leaves in what some scaffolds write.
func (k *Known) Only(wanted func(Scaffold) bool) *Known {
	only := &Known{files: map[string][]knownFile{}, hashes: k.hashes}
	for name, files := range k.files {
		for _, f := range files {
			f.scaffolds = slices.DeleteFunc(slices.Clone(f.scaffolds), func(s Scaffold) bool { return !wanted(s) })
			if len(f.scaffolds) > 0 {
				only.files[name] = append(only.files[name], f)
			}
		}
	}
	return only
}

// writes tells whether a scaffold has a file.
func (k *Known) writes(s Scaffold, name string) bool {
	return slices.ContainsFunc(k.files[name], func(f knownFile) bool { return slices.Contains(f.scaffolds, s) })
}

// Record describes projects, each as a scaffold made it, in the form of known.txt. All must have the same names.
func Record(names Names, projects map[Scaffold][]map[string][]byte) string {
	w := newWords(names)
	lines := map[string]map[string]bool{} // file and hashes → scaffolds
	for s, states := range projects {
		for _, files := range states {
			for name, text := range files {
				if !Scaffolded(name) {
					continue
				}
				var b bytes.Buffer
				for _, l := range w.lines(text) {
					raw := binary.BigEndian.AppendUint64(nil, l.bare)
					fmt.Fprintf(&b, " %s", base64.RawStdEncoding.EncodeToString(raw))
					if len(l.versions) > 0 {
						fmt.Fprintf(&b, "@%s", strings.Join(l.versions, ","))
					}
				}
				key := name + "\n" + b.String()
				if lines[key] == nil {
					lines[key] = map[string]bool{}
				}
				lines[key][s.Tool+"@"+s.Version+"@"+s.Layout] = true
			}
		}
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		name, hashes, _ := strings.Cut(key, "\n")
		fmt.Fprintf(&b, "%s %s%s\n", name, strings.Join(slices.Sorted(maps.Keys(lines[key])), ","), hashes)
	}
	return b.String()
}
