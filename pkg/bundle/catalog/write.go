package catalog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// setEntries encodes the entries of a channel, in its existing text if existing is one, to keep comments and other fields.
func (b *blob) setEntries() (err error) {
	if b.end == 0 {
		b.Data, err = encode(b.file, b.channel)
		return err
	}
	b.Data, err = editEntries(b.file, b.Data, b.channel.Entries)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Position, err)
	}
	return nil
}

// write assembles the changed files.
func (a *adder) write() error {
	for _, b := range a.blobs {
		if b.channel != nil && b.changed {
			if err := b.setEntries(); err != nil {
				return err
			}
		}
	}
	for _, f := range a.files {
		var existing, added []*blob
		for _, b := range a.blobs {
			switch {
			case b.file != f || !b.changed:
			case b.end > 0:
				existing = append(existing, b)
			default:
				added = append(added, b)
			}
		}
		if len(existing)+len(added) == 0 {
			continue
		}
		data := bytes.Clone(f.data)
		slices.SortFunc(existing, func(x, y *blob) int { return y.start - x.start })
		for _, b := range existing {
			text := b.Data
			if bytes.HasSuffix(text, []byte("\n")) && !bytes.HasSuffix(f.data[b.start:b.end], []byte("\n")) {
				text = bytes.TrimSuffix(text, []byte("\n"))
			}
			data = slices.Concat(data[:b.start], text, data[b.end:])
		}
		slices.SortStableFunc(added, compareNew)
		for _, b := range added {
			if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
				data = append(data, '\n')
			}
			if !f.json {
				data = append(data, "---\n"...)
			}
			data = append(data, b.Data...)
		}
		if !bytes.Equal(data, f.data) {
			a.added.Files[f.name] = data
		}
	}
	return nil
}

// compareNew orders new blobs: the package, its channels by name, its bundles in given order.
func compareNew(a, b *blob) int {
	rank := func(b *blob) int {
		switch {
		case b.pkg != nil:
			return 0
		case b.channel != nil:
			return 1
		}
		return 2
	}
	if a.channel != nil && b.channel != nil {
		return strings.Compare(a.channel.Name, b.channel.Name)
	}
	return rank(a) - rank(b)
}
