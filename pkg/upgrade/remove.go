package upgrade

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// remove takes away files that today's scaffold does without, unless they were edited or are still named.
func (u *upgrader) remove(plans []*plan) error {
	plans = slices.DeleteFunc(plans, func(p *plan) bool {
		_, carried := u.carried[p.name]
		return u.result.From == (Scaffold{}) || p.like < minimum && !carried
	})
	for _, p := range plans {
		p.m.infer(p.base, p.pairs)
	}
	// What names a file may go too, and then it goes as well.
	for again := true; again; {
		again = false
		for _, p := range plans {
			left, carried := u.carried[p.name]
			if p.gone || len(left) > 0 || u.edited(p) && !carried {
				continue
			}
			user, err := u.namedBy(p.name)
			if err != nil {
				return err
			}
			if user == "" {
				u.tree.Remove(p.name)
				u.add(p, Removed, "")
				p.gone, again = true, true
			}
		}
	}
	for _, p := range plans {
		if p.gone {
			continue
		}
		user, err := u.namedBy(p.name)
		left := u.carried[p.name]
		switch {
		case err != nil:
			return err
		case len(left) > 0:
			u.add(p, Kept, "sets "+strings.Join(left, ", ")+"; today's manager is not given these by the scaffold")
		case u.edited(p):
			u.add(p, Kept, "was edited; today's scaffold does without it")
		default:
			u.add(p, Kept, user+" names it; today's scaffold does without it")
		}
	}
	return nil
}

// namedBy finds a kustomization that still names a file.
func (u *upgrader) namedBy(name string) (string, error) {
	if path.Ext(name) != ".yaml" {
		return "", nil
	}
	if path.Base(name) == "kustomization.yaml" {
		name = path.Dir(name) // by its folder
	}
	names, err := u.tree.Walk("config", nil)
	if err != nil {
		return "", err
	}
	for _, other := range names {
		if path.Base(other) != "kustomization.yaml" {
			continue
		}
		text, err := u.tree.ReadFile(other)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", other, err)
		}
		for line := range strings.Lines(string(text)) {
			entry := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- "))
			entry = strings.TrimSpace(strings.TrimPrefix(entry, "path:"))
			if entry != "" && entry[0] != '#' && path.Join(path.Dir(other), strings.Trim(entry, `"'`)) == name {
				return other, nil
			}
		}
	}
	return "", nil
}
