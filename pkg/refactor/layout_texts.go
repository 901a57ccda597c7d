package refactor

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// UpdateTexts updates the paths of moved files in Makefile, Dockerfile, workflows, scripts and kustomizations. It must
// run after the upgrade of these files, which compares their old lines.
func (l *Layout) UpdateTexts() error {
	swaps := l.replacements()
	return replaceTexts(l.tree, func(name string, text []byte) []byte {
		for _, s := range swaps {
			if !s.docker || strings.HasPrefix(path.Base(name), "Dockerfile") {
				text = replaceAdjacent(s.old, s.literal, text, s.now)
			}
		}
		return text
	})
}

// A replacement is a pattern, text that each match contains, and its replacement, in all files or only those with the steps of an image.
type replacement struct {
	old          *regexp.Regexp
	literal, now string
	docker       bool
}

// replacements returns the replacements for the moved paths. A single word is a path only with a slash after it, with
// ./ or the module path before it, or in a copy instruction of an image.
func (l *Layout) replacements() []replacement {
	var all []replacement
	add := func(docker bool, literal, old, now string) {
		all = append(all, replacement{regexp.MustCompile(`(?m)` + old), literal, now, docker})
	}
	const before, after = `(^/?|[\s"'=,:(\[{^!]|\./)`, `([\s"',:;)\]}$]|$)`
	for _, from := range slices.Sorted(maps.Keys(l.dirs)) {
		to := l.dirs[from]
		add(false, from+`/`, before+from+`/`, `${1}`+to+`/`)
		add(false, `./`+from, `(^|[\s"'=,:(\[{])\./`+from+after, `${1}./`+to+`${2}`)
		add(false, path.Join(l.m.Path, from), `(^|[\s"'=,:(\[{])`+regexp.QuoteMeta(path.Join(l.m.Path, from))+`([\s"',:;)\]}$./]|$)`, `${1}`+path.Join(l.m.Path, to)+`${2}`)
		add(true, from, `^((?:COPY|ADD)\b.*[ \t])`+from+`([ \t]|\r?$)`, `${1}`+to+`${2}`)
	}
	if l.root {
		for _, name := range slices.Sorted(maps.Keys(l.moves.files)) {
			if to := l.moves.files[name][0].name; path.Dir(name) == "." {
				add(false, name, `(\bgo (?:run|build|vet|test|install)\b.*[ \t](?:\./)?)`+regexp.QuoteMeta(name)+after, `${1}`+to+`${2}`)
				add(false, name, `^(!?/)`+regexp.QuoteMeta(name)+`([ \t]|\r?$)`, `${1}`+to+`${2}`)
				add(true, name, `^((?:COPY|ADD)\b.*[ \t](?:\./)?)`+regexp.QuoteMeta(name)+`([ \t]|\r?$)`, `${1}`+to+`${2}`)
			}
		}
		add(false, `go `, `(\bgo (?:run|build|install)\b(?:[^\n&|;]*[ \t])?)\.([ \t]|\r?$)`, `${1}./cmd${2}`)
	}
	return all
}
