package refactor

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Texts makes the lines of Makefile, Dockerfile, workflows, scripts and kustomizations that name what has moved name
// its new place. It comes after those of the scaffold were brought up to date, which are told by their old lines.
func (l *Layout) Texts() error {
	names, err := l.tree.Walk(".", func(dir string) bool {
		base := path.Base(dir)
		return base == ".git" || base == "vendor" || base == "node_modules" || dir == "bin" || l.tree.Exists(path.Join(dir, "go.mod"))
	})
	if err != nil {
		return err
	}
	swaps := l.swaps()
	for _, name := range names {
		if !namesPaths(name) {
			continue
		}
		data, err := l.tree.ReadFile(name)
		if err != nil {
			continue // a broken link, which nothing reads
		}
		changed := data
		for _, s := range swaps {
			if s.docker && !strings.HasPrefix(path.Base(name), "Dockerfile") {
				continue
			}
			// Two names side by side share the sign between them, which a match takes for itself.
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

// wording is a pattern and what replaces it, in all files or those with an image's steps alone.
type wording struct {
	old    *regexp.Regexp
	now    string
	docker bool
}

// swaps are the ways in which texts name what has moved. A bare word is no path: it needs a slash at its end, ./ before
// it, the module's path, or to stand among the names that an image's step copies.
func (l *Layout) swaps() []wording {
	var all []wording
	add := func(docker bool, old, now string) {
		all = append(all, wording{regexp.MustCompile(`(?m)` + old), now, docker})
	}
	const before, behind = `(^/?|[\s"'=,:(\[{^!]|\./)`, `([\s"',:;)\]}$]|$)`
	for _, from := range slices.Sorted(maps.Keys(l.folders)) {
		to := l.folders[from]
		add(false, before+from+`/`, `${1}`+to+`/`)
		add(false, `(^|[\s"'=,:(\[{])\./`+from+behind, `${1}./`+to+`${2}`)
		add(false, `(^|[\s"'=,:(\[{])`+regexp.QuoteMeta(path.Join(l.m.Path, from))+`([\s"',:;)\]}$./]|$)`, `${1}`+path.Join(l.m.Path, to)+`${2}`)
		add(true, `^((?:COPY|ADD)\b.*[ \t])`+from+`([ \t]|\r?$)`, `${1}`+to+`${2}`)
	}
	if l.root {
		for _, name := range slices.Sorted(maps.Keys(l.moves.files)) {
			if to := l.moves.files[name][0].name; path.Dir(name) == "." {
				add(false, `(\bgo (?:run|build|vet|test|install)\b.*[ \t](?:\./)?)`+regexp.QuoteMeta(name)+behind, `${1}`+to+`${2}`)
				add(false, `^(!?/)`+regexp.QuoteMeta(name)+`([ \t]|\r?$)`, `${1}`+to+`${2}`)
				add(true, `^((?:COPY|ADD)\b.*[ \t](?:\./)?)`+regexp.QuoteMeta(name)+`([ \t]|\r?$)`, `${1}`+to+`${2}`)
			}
		}
		add(false, `(\bgo (?:run|build|install)\b(?:[^\n&|;]*[ \t])?)\.([ \t]|\r?$)`, `${1}./cmd${2}`)
	}
	return all
}
