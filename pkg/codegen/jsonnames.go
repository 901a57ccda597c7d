package codegen

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// nameProblems returns the fields of a struct that Go and the schema name differently, so that what an API server stores is not what a program reads.
// A field that hides one of another type in an embedded struct is a problem only if controller-tools finds that both have no common schema, which
// isHidden marks.
func nameProblems(in *loader.Package, info *markers.TypeInfo) (list []typeProblem) {
	if _, ok := info.RawSpec.Type.(*ast.StructType); !ok {
		return nil
	}
	type owner struct {
		field markers.FieldInfo
		depth int
		path  string
	}
	names := map[string]owner{}
	report := func(field markers.FieldInfo, path string, isHidden bool, fix, format string, args ...any) {
		at := place{in: in, at: field.RawField.Pos(), subject: fmt.Sprintf("field %s of %s", path, info.Name)}
		list = append(list, typeProblem{place: at, problem: at.subject + " " + fmt.Sprintf(format, args...), fix: fix, isHidden: isHidden})
	}
	add := func(name string, now owner) {
		before, known := names[name]
		switch {
		case !known:
			names[name] = now
		case before.depth != now.depth:
			report(now.field, now.path, true, "give them different names, or the same type", "has the JSON name %s of %s, but another type", name, before.path)
		case before.field.RawField != now.field.RawField || now.depth == 0:
			report(now.field, now.path, false, "give them different names", "has the JSON name %s of %s, so that Go reads and writes neither", name, before.path)
		}
	}
	for _, field := range info.Fields {
		tag, tagged := field.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		switch embedded := embeddedStruct(in.TypesInfo.TypeOf(field.RawField.Type)); {
		case !tagged || tag == "-":
		case field.Name != "" && !ast.IsExported(field.Name):
			report(field, field.Name, false, "export it, or give it the tag `json:\"-\"`", "is not exported, so that Go neither reads nor writes it, though the schema has it")
		case name != "":
			add(name, owner{field, 0, goName(field)})
		case field.Name != "" || embedded == nil:
			report(field, goName(field), false, fmt.Sprintf("write a name in its tag, such as `json:\"%s%s\"`", strings.ToLower(goName(field)[:1])+goName(field)[1:], withoutInline(tag)),
				"has no name in its JSON tag: Go encodes it as %s, but the schema has its content without that name", goName(field))
		}
	}
	for _, field := range info.Fields {
		tag, tagged := field.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		if structure := embeddedStruct(in.TypesInfo.TypeOf(field.RawField.Type)); tagged && name == "" && field.Name == "" && structure != nil {
			fields := promoted(structure, goName(field), 1, map[*types.Struct]bool{})
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				add(name, owner{field, fields[name].depth, fields[name].text})
			}
		}
	}
	return list
}

func goName(field markers.FieldInfo) string {
	if field.Name != "" {
		return field.Name
	}
	name, _, _ := strings.Cut(typeName(field.RawField.Type), "[") // of an instance of a generic type
	return name[strings.LastIndexByte(name, '.')+1:]
}

func withoutInline(tag string) string {
	_, options, _ := strings.Cut(tag, ",")
	if options = strings.ReplaceAll(options, "inline", ""); strings.Trim(options, ",") == "" {
		return ""
	}
	return "," + strings.Trim(options, ",")
}

// embeddedStruct returns the struct that a type or its pointer is, or nil.
func embeddedStruct(t types.Type) *types.Struct {
	if t == nil {
		return nil
	}
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		t = pointer.Elem()
	}
	structure, _ := t.Underlying().(*types.Struct)
	return structure
}

// A promotedField is the path of a field of an embedded struct in Go.
type promotedField struct {
	text  string
	depth int
}

// promoted returns the fields of an embedded struct by their names in JSON, of which those that are nested less deep hide the others.
func promoted(structure *types.Struct, path string, depth int, entered map[*types.Struct]bool) map[string]promotedField {
	found := map[string]promotedField{}
	if entered[structure] {
		return found
	}
	entered[structure] = true
	for i := range structure.NumFields() {
		field := structure.Field(i)
		tag, tagged := reflect.StructTag(structure.Tag(i)).Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		inner := embeddedStruct(field.Type())
		switch {
		case !tagged || tag == "-":
		case name != "" && field.Exported():
			found[name] = promotedField{path + "." + field.Name(), depth}
		case name == "" && field.Embedded() && inner != nil:
			for name, deeper := range promoted(inner, path+"."+field.Name(), depth+1, entered) {
				if before, ok := found[name]; !ok || deeper.depth < before.depth {
					found[name] = deeper
				}
			}
		}
	}
	return found
}
