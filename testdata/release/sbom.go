package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"

	"github.com/operon-sdk/operon/pkg/image"
)

// list writes the SPDX document of a platform: its archive contains the programs, and these contain modules. The packages for Linux have
// the same programs.
func (r *release) list(p platform) error {
	at := slices.IndexFunc(r.archives, func(a archived) bool { return a.platform == p })
	archive := r.archives[at]
	top := &spdx.Package{
		PackageName: program, PackageSPDXIdentifier: "Archive", PackageVersion: r.version, PackageFileName: archive.name,
		PackageDownloadLocation: r.baseURL + "/" + archive.name, PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "Apache-2.0",
		PackageCopyrightText: "NOASSERTION", IsFilesAnalyzedTagPresent: true,
		PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: archive.sum}},
	}
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: archive.name,
		DocumentNamespace: "https://spdx.org/spdxdocs/" + archive.name + "-" + archive.sum,
		Packages:          []*spdx.Package{top},
		Relationships:     []*spdx.Relationship{relation("DOCUMENT", common.TypeRelationshipDescribe, top.PackageSPDXIdentifier)},
	}
	for _, name := range []string{program, runtimeProgram} {
		if err := r.addProgram(doc, top, name, filepath.Join(r.built(p), p.executable(name))); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	if err := spdxjson.Write(doc, &out, spdxjson.Indent("  "), spdxjson.EscapeHTML(false)); err != nil {
		return err
	}
	return os.WriteFile(r.file(r.base(p)+".spdx.json"), out.Bytes(), 0o644)
}

// addProgram adds a program and its modules to a document. Programs of one build use the same version of a module, so that each
// module is listed once.
func (r *release) addProgram(doc *spdx.Document, top *spdx.Package, name, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	data, err := image.SBOM(bytes.NewReader(content), int64(len(content)), program+"-"+r.version, r.date)
	if err != nil {
		return err
	}
	found, err := spdxjson.Read(bytes.NewReader(data))
	if err != nil {
		return err
	}
	doc.CreationInfo = found.CreationInfo
	main, id := found.Packages[0], common.ElementID("Program-"+name)
	doc.Relationships = append(doc.Relationships, relation(top.PackageSPDXIdentifier, common.TypeRelationshipContains, id))
	for _, m := range found.Packages[1:] {
		doc.Relationships = append(doc.Relationships, relation(id, common.TypeRelationshipContains, m.PackageSPDXIdentifier))
		if !slices.ContainsFunc(doc.Packages, func(p *spdx.Package) bool { return p.PackageSPDXIdentifier == m.PackageSPDXIdentifier }) {
			doc.Packages = append(doc.Packages, m)
		}
	}
	for _, reference := range main.PackageExternalReferences {
		reference.Locator, _, _ = strings.Cut(reference.Locator, "@")
		reference.Locator += "@" + r.version
	}
	main.PackageName, main.PackageSPDXIdentifier, main.PackageVersion = name, id, r.version
	doc.Packages = slices.Insert(doc.Packages, 1, main)
	return nil
}

func relation(from common.ElementID, kind string, to common.ElementID) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.DocElementID{ElementRefID: from}, RefB: common.DocElementID{ElementRefID: to}, Relationship: kind}
}
