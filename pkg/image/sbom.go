package image

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// Materials lists what a Go program was built of, as an SPDX document in JSON: its modules with their versions,
// and the version of Go. Its time is given, and its name follows from the program's content, so that the same
// program gives the same document.
func Materials(program io.ReaderAt, size int64, by string, at time.Time) ([]byte, error) {
	info, err := buildinfo.Read(program)
	if err != nil {
		return nil, fmt.Errorf("reading the modules of the program: %w", err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(program, 0, size)); err != nil {
		return nil, err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if info.Main.Path == "" { // a program of the toolchain
		info.Main.Path = info.Path
	}
	name := path.Base(info.Main.Path)
	ids := identifiers{}
	main := ids.module(&info.Main)
	main.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: digest}}
	main.PrimaryPackagePurpose = "APPLICATION"
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: name,
		DocumentNamespace: "https://spdx.org/spdxdocs/" + name + "-" + digest,
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: by}}, Created: at.UTC().Format(time.RFC3339),
		},
		Packages:      []*spdx.Package{main},
		Relationships: []*spdx.Relationship{relation("DOCUMENT", common.TypeRelationshipDescribe, main.PackageSPDXIdentifier)},
	}
	parts := []*spdx.Package{ids.module(&debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, m := range info.Deps {
		parts = append(parts, ids.module(m))
	}
	slices.SortFunc(parts, func(a, b *spdx.Package) int { return strings.Compare(a.PackageName, b.PackageName) })
	for _, p := range parts {
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, relation(main.PackageSPDXIdentifier, common.TypeRelationshipContains, p.PackageSPDXIdentifier))
	}
	var out bytes.Buffer
	err = spdxjson.Write(doc, &out, spdxjson.Indent("  "), spdxjson.EscapeHTML(false))
	return out.Bytes(), err
}

func relation(from common.ElementID, kind string, to common.ElementID) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.DocElementID{ElementRefID: from}, RefB: common.DocElementID{ElementRefID: to}, Relationship: kind}
}

// identifiers counts how often an identifier was given.
type identifiers map[string]int

// module is a module as SPDX knows packages. What replaces it is what was built in.
func (ids identifiers) module(m *debug.Module) *spdx.Package {
	source := ""
	switch r := m.Replace; {
	case r == nil:
	case r.Version == "" || r.Version == "(devel)": // a folder, whose place says nothing elsewhere
		source = "built from a folder that stands in for it"
	default:
		source = "stands in for " + m.Path + " " + m.Version
		m = r
	}
	id := "Module-" + strings.Trim(regexp.MustCompile(`[^A-Za-z0-9.]+`).ReplaceAllString(m.Path, "-"), "-.")
	if ids[id]++; ids[id] > 1 {
		id = fmt.Sprintf("%s-%d", id, ids[id])
	}
	version := m.Version
	locator := "pkg:golang/" + m.Path
	if version != "" && version != "(devel)" {
		locator += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	p := &spdx.Package{
		PackageName: m.Path, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: version, PackageSourceInfo: source,
		PackageDownloadLocation: "NOASSERTION", PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "NOASSERTION", PackageCopyrightText: "NOASSERTION",
		IsFilesAnalyzedTagPresent: true,
	}
	p.PackageExternalReferences = []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: locator}}
	return p
}
