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
	"sync"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// SBOM returns the modules of a Go program and the version of Go as an SPDX document in JSON. Creator is the name of the tool
// for the document. The namespace of the document is derived from the content of the program, so that the same program and
// time result in the same document.
func SBOM(program io.ReaderAt, size int64, creator string, at time.Time) ([]byte, error) {
	info, err := buildinfo.Read(program)
	if err != nil {
		return nil, fmt.Errorf("reading the modules of the program: %w", err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(program, 0, size)); err != nil {
		return nil, err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if info.Main.Path == "" { // a program of the Go toolchain
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
			Creators: []common.Creator{{CreatorType: "Tool", Creator: creator}}, Created: at.UTC().Format(time.RFC3339),
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

// identifiers counts the uses of each identifier.
type identifiers map[string]int

// notInID matches what identifiers of SPDX cannot contain.
var notInID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9.]+`) })

// module returns a module as an SPDX package. A replaced module is described by its replacement.
func (ids identifiers) module(m *debug.Module) *spdx.Package {
	source := ""
	switch r := m.Replace; {
	case r == nil:
	case r.Version == "" || r.Version == "(devel)": // a local directory, whose path is meaningless on other machines
		source = "replaced by a local directory"
	default:
		source = "replaces " + m.Path + " " + m.Version
		m = r
	}
	id := "Module-" + strings.Trim(notInID().ReplaceAllString(m.Path, "-"), "-.")
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
