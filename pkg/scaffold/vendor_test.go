package scaffold

import (
	"strings"
	"testing"
)

func TestVendorStale(t *testing.T) {
	t.Parallel()
	const (
		mod  = "module m.example/m\n\ngo 1.26\n\nrequire (\n\texample.com/lib v1.0.0\n\texample.com/api v0.0.0\n)\n\nrequire example.com/dep v1.0.0 // indirect\n\nreplace example.com/api => ./api\n"
		list = "# example.com/api v0.0.0 => ./api\n## explicit; go 1.26\nexample.com/api/v1\n# example.com/dep v1.0.0\n## explicit\nexample.com/dep\n" +
			"# example.com/lib v1.0.0\n## explicit; go 1.26\nexample.com/lib\nexample.com/lib/sub\n# example.com/further v1.0.0\n## workspace\nexample.com/further\n# example.com/api => ./api\n"
		code = "package m\n\nimport (\n\t_ \"example.com/api/v1\"\n\t_ \"example.com/lib\"\n\t_ \"fmt\"\n\t_ \"m.example/m/internal\"\n\t_ \"unknown.example/x\"\n)\n"
	)
	files := func(old, new string) map[string]string {
		replace := strings.NewReplacer(old, new)
		return map[string]string{"go.mod": replace.Replace(mod), VendorList: replace.Replace(list), "m.go": replace.Replace(code)}
	}
	without := files("\n", "\n")
	delete(without, VendorList)
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"current":                     {files("\n", "\n"), false},
		"CRLF":                        {files("\n", "\r\n"), false},
		"direct becomes indirect":     {files(" // indirect", ""), false},
		"no vendor directory":         {without, false},
		"an import that is vendored":  {files("_ \"example.com/lib\"", "_ \"example.com/lib/sub\""), false},
		"an import that is not":       {files("_ \"example.com/lib\"", "_ \"example.com/lib/other\""), true},
		"another version":             {files("\texample.com/lib v1.0.0", "\texample.com/lib v1.1.0"), true},
		"a new requirement":           {files("require (", "require (\n\texample.com/new v1.0.0"), true},
		"a requirement that was lost": {files("require example.com/dep v1.0.0 // indirect", ""), true},
	} {
		got, err := VendorStale(modTree(c.files))
		if err != nil || got != c.want {
			t.Errorf("%s: got %t, %v, want %t", name, got, err, c.want)
		}
	}
}
