package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// VendorList is the file in the vendor directory that lists the vendored packages.
const VendorList = "vendor/modules.txt"

// VendorStale reports whether go mod vendor would have to run: the project has a vendor directory, and that does not
// match the requirements of go.mod or lacks a package that the project imports from one of them.
func VendorStale(tree *worktree.Tree) (bool, error) {
	data, err := tree.ReadFile(VendorList)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", VendorList, diag.Cause(err))
	}
	_, file, err := ReadGoMod(tree)
	if err != nil {
		return false, err
	}
	explicit, packages := parseVendorList(string(data))
	for _, r := range file.Require {
		if !slices.Contains(explicit, r.Mod) {
			return true, nil
		}
	}
	imports, err := projectImports(tree, file)
	if err != nil {
		return false, err
	}
	for _, imp := range imports {
		if provider, _ := providerOf(imp, file); provider != "" && provider != file.Module.Mod.Path && !packages[imp] {
			return true, nil
		}
	}
	return len(explicit) > len(file.Require), nil
}

// parseVendorList returns the modules that go.mod required when the vendor directory was written, and the packages in it.
func parseVendorList(text string) (explicit []module.Version, packages map[string]bool) {
	packages = map[string]bool{}
	var current module.Version
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case strings.HasPrefix(line, "## explicit"):
			if current.Version != "" {
				explicit = append(explicit, current)
			}
		case fields[0] == "##":
		case fields[0] == "#":
			current = module.Version{}
			if len(fields) > 2 && fields[2] != "=>" {
				current = module.Version{Path: fields[1], Version: fields[2]}
			}
		default:
			packages[fields[0]] = true
		}
	}
	return explicit, packages
}
