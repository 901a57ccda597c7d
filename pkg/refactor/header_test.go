package refactor

import "testing"

func TestReplaceHeader(t *testing.T) {
	t.Parallel()
	const old, header = "// Copyright A.", "/*\nB\n*/"
	for name, test := range map[string]struct{ src, old, header, want string }{
		"replaced":          {old + "\n\npackage p\n", old, header, header + "\n\npackage p\n"},
		"below constraints": {"//go:build e2e\n\n" + old + "\n\npackage p\n", old, header, "//go:build e2e\n\n" + header + "\n\npackage p\n"},
		"line ends":         {old + "\r\n\r\npackage p\r\n", old, header, "/*\r\nB\r\n*/\r\n\r\npackage p\r\n"},
		"taken away":        {old + "\n\npackage p\n", old, "", "package p\n"},
		"another's":         {"// Copyright A. and B\n\npackage p\n", old, header, ""},
		"in the code":       {"package p\n\n" + old + "\n", old, header, ""},
		"the first one":     {"//go:build x\n\n// Package p.\npackage p\n", "", header, "//go:build x\n\n" + header + "\n\n// Package p.\npackage p\n"},
		"not over another":  {old + "\n\npackage p\n", "", header, ""},
		"any year":          {"// Copyright 2025 A.\n\npackage p\n", "// Copyright YEAR A.", "// (c) YEAR B", "// (c) 2025 B\n\npackage p\n"},
		"a range of years":  {"// Copyright 2023-2025 A.\n\npackage p\n", "// Copyright YEAR A.", header, header + "\n\npackage p\n"},
		"no year":           {"// Copyright A.\n\npackage p\n", "// Copyright YEAR A.", "// (c) YEAR B", "// (c) 2026 B\n\npackage p\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := replaceHeader(test.src, test.old, test.header, "2026")
			if ok != (test.want != "") || ok && got != test.want {
				t.Errorf("got %q, %t, want %q", got, ok, test.want)
			}
		})
	}
}

func TestCopyright(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"/*\nCopyright 2026 A.\n\nText\n*/": "Copyright 2026 A.",
		"// Copyright A.":                   "Copyright A.",
		"/* All rights */":                  "",
		"":                                  "",
	} {
		if got := Copyright(header); got != want {
			t.Errorf("Copyright(%q) = %q, want %q", header, got, want)
		}
	}
}

func TestScopeMarkers(t *testing.T) {
	t.Parallel()
	const wide = "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n// +kubebuilder:rbac:urls=/metrics,verbs=get\n\tx := \"+kubebuilder:rbac:groups=a,b\"\n"
	const narrow = "// +kubebuilder:rbac:groups=core,namespace=p-system,resources=pods,verbs=get\n// +kubebuilder:rbac:urls=/metrics,verbs=get\n\tx := \"+kubebuilder:rbac:groups=a,b\"\n"
	if got := setMarkerNamespace(wide, "p-system", true); got != narrow {
		t.Errorf("got %s", got)
	}
	if got := setMarkerNamespace(narrow, "p-system", true); got != narrow {
		t.Errorf("second change: got %s", got)
	}
	if got := setMarkerNamespace(narrow, "p-system", false); got != wide {
		t.Errorf("inverse change: got %s", got)
	}
	if got := setMarkerNamespace(narrow, "other", false); got != narrow {
		t.Errorf("other namespace: got %s", got)
	}
}
