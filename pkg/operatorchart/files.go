package operatorchart

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/templates"
)

// valuesFile is the file that documents the values of a chart, from which the schema and the table of the README are derived.
const (
	valuesFile = "values.yaml"
	schemaFile = "values.schema.json"
	readmeFile = "README.md"
	chartFile  = "Chart.yaml"
	// helpersFile defines what the templates of a chart share.
	helpersFile = "templates/_helpers.tpl"
)

// staticFiles returns the files of a chart that aren't made from an object, by their paths in the chart. Their templates have the delimiters
// [[ and ]], since most are templates of Helm, too.
func staticFiles() []string {
	return []string{valuesFile, ".helmignore", chartFile, "templates/NOTES.txt", helpersFile, "templates/extra-objects.yaml"}
}

// execute executes the template of a file.
func execute(name string, data any) ([]byte, error) {
	t, err := readTemplate(name + ".tmpl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

// blocks returns the template of all blocks. An object has dozens, so it is parsed once.
var blocks = sync.OnceValue(func() *template.Template {
	t, err := readTemplate("blocks.tmpl")
	if err != nil {
		panic(err) // it is embedded
	}
	return t
})

// chartBlock returns a block of lines, with a final newline, for an indentation. The blocks are in templates/chart/blocks.tmpl.
func chartBlock(name string, indent int, args ...string) string {
	var b strings.Builder
	data := struct {
		Indent, Inner int
		Args          []string
	}{indent, indent + 2, args}
	if err := blocks().ExecuteTemplate(&b, name, data); err != nil {
		panic(err) // an unknown block
	}
	margin := strings.Repeat(" ", indent)
	return margin + strings.ReplaceAll(b.String(), "\n", "\n"+margin) + "\n"
}

func readTemplate(name string) (*template.Template, error) {
	text, err := templates.FS.ReadFile("chart/" + name)
	if err != nil {
		return nil, err
	}
	functions := template.FuncMap{"yaml": templates.YAML, "value": blockValue, "text": textValue, "number": numberValue, "quote": strconv.Quote}
	// A checkout on Windows may add carriage returns to the templates.
	return template.New(name).Delims("[[", "]]").Option("missingkey=error").Funcs(functions).Parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
}

// textValue returns a string as a YAML scalar, and nil as an empty one.
func textValue(value any) string {
	text, _ := value.(string)
	return templates.YAML(text)
}

// numberValue returns a number as YAML, and null for nil.
func numberValue(value any) string {
	if value == nil {
		return "null"
	}
	return strconv.FormatInt(number(value), 10)
}

// blockValue returns what follows the colon of a key: a value as YAML, or another text for an empty one.
func blockValue(value any, empty string, indent int) (string, error) {
	data, err := manifest.Encode(value)
	if err != nil {
		return "", err
	}
	switch text := strings.TrimSuffix(string(data), "\n"); text {
	case "null", "[]", "{}":
		return " " + empty, nil
	default:
		margin := "\n" + strings.Repeat(" ", indent)
		return margin + strings.ReplaceAll(text, "\n", margin), nil
	}
}
