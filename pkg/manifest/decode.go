package manifest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Decode reads the Kubernetes objects of a YAML stream or JSON file, with the items of lists (kinds List and …List) instead of the
// lists. Documents without content are ignored. Other documents that are not objects are problems.
func Decode(file string, data []byte) ([]Object, diag.Findings) {
	docs, problems := Documents(file, data)
	var objects []Object
	for _, doc := range docs {
		found, more := doc.objects()
		objects, problems = append(objects, found...), append(problems, more...)
	}
	return objects, problems
}

// objects reads the objects of a document.
func (d Document) objects() ([]Object, diag.Findings) {
	content, _, problems := d.content()
	if problems != nil {
		return nil, problems
	}
	fields, ok := content.(map[string]any)
	if !ok && content != nil {
		return nil, d.foreign("is not a Kubernetes object: " + describe(content))
	}
	if len(fields) == 0 {
		return nil, nil
	}
	return Object{Position: d.Position, Fields: fields, data: d.Data}.unpack()
}

// describe returns a value that is not an object for messages.
func describe(content any) string {
	switch content.(type) {
	case []any:
		return "it is a list; write the objects as documents separated by ---, or as the items of a kind: List"
	case string:
		return "it is plain text"
	}
	return "it is a single value"
}

// unpack returns the object, or the items of a list.
func (o Object) unpack() ([]Object, diag.Findings) {
	if problems := o.incomplete(); problems != nil {
		return nil, problems
	}
	items, ok := o.Fields["items"]
	if !ok || !strings.HasSuffix(o.Kind(), "List") || o.Name() != "" {
		return []Object{o}, nil
	}
	list, ok := items.([]any)
	if !ok {
		if items == nil {
			return nil, nil
		}
		return nil, diag.Findings{{Position: o.Position, Problem: fmt.Sprintf("items of the %s must be a list", o.Kind())}}
	}
	var (
		objects  []Object
		problems diag.Findings
	)
	locate := o.Locate
	if !o.item {
		locate = Document{Position: o.Position, Data: o.data}.Locator()
	}
	for i, item := range list {
		position := locate("items", strconv.Itoa(i))
		fields, ok := item.(map[string]any)
		if !ok {
			problems.Addf(position, "items[%d] is not a Kubernetes object", i)
			continue
		}
		// Items of a PodList, for example, may have no kind and API version.
		if kind := strings.TrimSuffix(o.Kind(), "List"); kind != "" && TextAt(fields, "kind") == "" {
			fields["kind"], fields["apiVersion"] = kind, o.APIVersion()
		}
		data, err := Encode(fields)
		if err != nil {
			problems = append(problems, diag.Finding{Position: position, Problem: err.Error()})
			continue
		}
		found, more := Object{Position: position, Fields: fields, data: data, item: true}.unpack()
		objects, problems = append(objects, found...), append(problems, more...)
	}
	return objects, problems
}
