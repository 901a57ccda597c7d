package refactor

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// UpdateTexts updates the paths of moved files in Makefile, Dockerfile, workflows, scripts and kustomizations. It must
// run after the upgrade of these files, which compares their old lines.
func (l *Layout) UpdateTexts() error {
	names, err := l.tree.Walk(".", func(dir string) bool {
		base := path.Base(dir)
		return base == ".git" || base == "vendor" || base == "node_modules" || dir == "bin" || l.tree.Exists(path.Join(dir, "go.mod"))
	})
	if err != nil {
		return err
	}
	swaps := l.replacements()
	for _, name := range names {
		if !mayContainPaths(name) {
			continue
		}
		data, err := l.tree.ReadFile(name)
		if err != nil {
			continue // a broken link
		}
		changed := data
		for _, s := range swaps {
			if s.docker && !strings.HasPrefix(path.Base(name), "Dockerfile") {
				continue
			}
			// Adjacent names share the separator, which a match consumes.
			for range 2 {
				changed = s.old.ReplaceAll(changed, []byte(s.now))
			}
		}
		if !bytes.Equal(changed, data) {
			l.tree.WriteFile(name, changed, 0o644)
		}
	}
	return nil
}

// A replacement is a pattern and its replacement, in all files or only those with the steps of an image.
type replacement struct {
	old    *regexp.Regexp
	now    string
	docker bool
}

// replacements returns the replacements for the moved paths. A single word is a path only with a slash after it, with
// ./ or the module path before it, or in a copy instruction of an image.
func (l *Layout) replacements() []replacement {
	var all []replacement
	add := func(docker bool, old, now string) {
		all = append(all, replacement{regexp.MustCompile(`(?m)` + old), now, docker})
	}
	const before, after = `(^/?|[\s"'=,:(\[{^!]|\./)`, `([\s"',:;)\]}$]|$)`
	for _, from := range slices.Sorted(maps.Keys(l.dirs)) {
		to := l.dirs[from]
		add(false, before+from+`/`, `${1}`+to+`/`)
		add(false, `(^|[\s"'=,:(\[{])\./`+from+after, `${1}./`+to+`${2}`)
		add(false, `(^|[\s"'=,:(\[{])`+regexp.QuoteMeta(path.Join(l.m.Path, from))+`([\s"',:;)\]}$./]|$)`, `${1}`+path.Join(l.m.Path, to)+`${2}`)
		add(true, `^((?:COPY|ADD)\b.*[ \t])`+from+`([ \t]|\r?$)`, `${1}`+to+`${2}`)
	}
	if l.root {
		for _, name := range slices.Sorted(maps.Keys(l.moves.files)) {
			if to := l.moves.files[name][0].name; path.Dir(name) == "." {
				add(false, `(\bgo (?:run|build|vet|test|install)\b.*[ \t](?:\./)?)`+regexp.QuoteMeta(name)+after, `${1}`+to+`${2}`)
				add(false, `^(!?/)`+regexp.QuoteMeta(name)+`([ \t]|\r?$)`, `${1}`+to+`${2}`)
				add(true, `^((?:COPY|ADD)\b.*[ \t](?:\./)?)`+regexp.QuoteMeta(name)+`([ \t]|\r?$)`, `${1}`+to+`${2}`)
			}
		}
		add(false, `(\bgo (?:run|build|install)\b(?:[^\n&|;]*[ \t])?)\.([ \t]|\r?$)`, `${1}./cmd${2}`)
	}
	return all
}
