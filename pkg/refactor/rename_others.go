package refactor

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// addOthers adds the changed files other than Go by their new names.
func (x *renamer) addOthers(code map[string][]byte) error {
	names, err := x.listFiles()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(x.Files)) {
		if x.files[name] != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	pairs := map[string][]scaffold.RenderedPair{}
	for _, t := range x.Pairs {
		pairs[t.From] = append(pairs[t.From], t)
	}
	for _, name := range names {
		if x.m.Files[name] != nil || name == "PROJECT" || slices.Contains(x.Removed, name) {
			continue
		}
		data, err := x.tree.ReadFile(name)
		if err != nil && x.files[name] == "" {
			continue // a broken link
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		text := textdiff.Apply(data, changeEdits(data, x.changes[name]))
		if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
			text = x.renameManifest(name, text, pairs[name])
		}
		if mayContainPaths(name) {
			text = x.renamePaths(text)
		}
		text = x.renameVariables(text)
		to := x.newPath(name)
		if to != name {
			if _, taken := code[name]; !taken {
				code[name] = nil
			}
		}
		if to != name || !bytes.Equal(text, data) {
			code[to] = text
		}
	}
	return nil
}

// renamePaths replaces moved directories and the module path in a text.
func (x *renamer) renamePaths(text []byte) []byte {
	for _, from := range slices.Backward(slices.Sorted(maps.Keys(x.Dirs))) {
		text = replacePath(text, `(^|[\s"'=,:(\[{^])`, x.m.ImportPath(from), x.newImport(x.m.ImportPath(from)))
		text = replacePath(text, `(^|[\s"'=,:(\[{^]|\./)`, from, x.Dirs[from])
	}
	if x.Module != "" {
		text = replacePath(text, `(^|[\s"'=,:(\[{^])`, x.m.Path, x.Module)
	}
	return text
}

func replacePath(text []byte, before, from, to string) []byte {
	if !bytes.Contains(text, []byte(from)) {
		return text
	}
	pattern := regexp.MustCompile(`(?m)` + before + regexp.QuoteMeta(from) + `([/.][\w.*/-]|[\s"',:;)\]}$]|/?$)`)
	return replaceAdjacent(pattern, from, text, "${1}"+strings.ReplaceAll(to, "$", "$$")+"${2}")
}
