package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/worktree"
)

const storageMarker = "+kubebuilder:storageversion"

// markStorage adds the marker of the storage version to a kind that gets a second version, because CRD generation needs
// it. It marks the existing version, in which objects are stored already, unless a version has the marker.
func markStorage(tree *worktree.Tree, data Data) error {
	file := strings.ToLower(data.Resource.Kind) + "_types.go"
	dataDir := outputPath(apiPath, data)
	names, err := tree.Walk(path.Dir(dataDir), nil)
	if err != nil {
		return fmt.Errorf("looking for other versions of %s: %w", data.Resource.Kind, err)
	}
	var others []string
	for _, name := range names {
		version := path.Dir(name)
		if path.Base(name) != file || path.Dir(version) != path.Dir(dataDir) {
			continue
		}
		content, err := tree.ReadFile(name)
		if err != nil {
			return err
		}
		if strings.Contains(string(content), storageMarker) {
			return nil
		}
		if version != dataDir {
			others = append(others, name)
		}
	}
	for _, name := range others {
		content, err := tree.ReadFile(name)
		if err != nil {
			return err
		}
		if marked, ok := insertStorageMarker(string(content), data.Resource.Kind); ok {
			tree.WriteFile(name, []byte(marked), worktree.FileMode)
			return nil
		}
	}
	// Types in another form are left to the user; code generation reports the missing marker.
	return nil
}

// keepStorage copies the marker of the storage version to types that are about to be overwritten.
func keepStorage(tree *worktree.Tree, files map[string][]byte, data Data) {
	name := outputPath(apiPath+"/KIND_types.go", data)
	current, err := tree.ReadFile(name)
	if err != nil || !strings.Contains(string(current), storageMarker) {
		return
	}
	if marked, ok := insertStorageMarker(string(files[name]), data.Resource.Kind); ok {
		files[name] = []byte(marked)
	}
}

// insertStorageMarker adds the marker after the one for root objects.
func insertStorageMarker(text, kind string) (string, bool) {
	lines := strings.SplitAfter(text, "\n")
	declared := regexp.MustCompile(`^type ` + regexp.QuoteMeta(kind) + ` struct\b`)
	at := slices.IndexFunc(lines, declared.MatchString)
	for i := at - 1; i >= 0 && !strings.HasPrefix(lines[i], "}"); i-- {
		marker := strings.Index(lines[i], "+kubebuilder:object:root")
		if marker < 0 || !strings.HasPrefix(lines[i], "//") {
			continue
		}
		end := "\n"
		if strings.HasSuffix(lines[i], "\r\n") {
			end = "\r\n"
		}
		return strings.Join(slices.Insert(lines, i+1, lines[i][:marker]+storageMarker+end), ""), true
	}
	return text, false
}

// RemoveStorageMarker removes the marker of the storage version that CreateAPI added for a second version. others are
// the types files of the remaining versions. If there are several and none is marked, it marks the first one.
func RemoveStorageMarker(tree *worktree.Tree, kind string, others []string) error {
	marked := ""
	for _, name := range others {
		content, err := tree.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if strings.Contains(string(content), storageMarker) {
			marked = name
		}
	}
	if len(others) == 1 && marked != "" {
		content, err := tree.ReadFile(marked)
		if err != nil {
			return err
		}
		line := regexp.MustCompile(`(?m)^//\s?` + regexp.QuoteMeta(storageMarker) + `\r?\n`)
		without := line.ReplaceAll(content, nil)
		if restored, ok := insertStorageMarker(string(without), kind); ok && restored == string(content) {
			tree.WriteFile(marked, without, worktree.FileMode)
		}
		return nil
	}
	if len(others) < 2 || marked != "" {
		return nil
	}
	content, err := tree.ReadFile(others[0])
	if err != nil {
		return err
	}
	if text, ok := insertStorageMarker(string(content), kind); ok {
		tree.WriteFile(others[0], []byte(text), worktree.FileMode)
	}
	return nil
}
