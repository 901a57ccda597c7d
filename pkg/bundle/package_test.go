package bundle_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
)

// FuzzPackage checks that every valid package manifest can be written with a new head, keeps its other channels, and that
// problems have positions.
func FuzzPackage(f *testing.F) {
	f.Add([]byte("packageName: a\nchannels:\n- name: alpha\n  currentCSV: a.v1 # old\n"))
	f.Add([]byte("# c\nchannels: []\npackageName: &x a\nmore: *x\n"))
	f.Add([]byte("{packageName: '7', channels: [{name: '1.0', currentCSV: 'no'}], defaultChannel: '1.0'} # c"))
	f.Add([]byte("channels:\n- &c {name: a, currentCSV: b}\n- *c\n#"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, problems := bundle.ParsePackage("f", data)
		for _, problem := range problems {
			if problem.File != "f" || problem.Line > len(data)+1 { // YAML has several line terminators
				t.Errorf("%s: position is not in the input", problem)
			}
		}
		if p == nil {
			return
		}
		if same, err := p.Bytes(); err != nil || !bytes.Equal(same, data) {
			t.Errorf("Bytes() of an unchanged package = %q, %v", same, err)
		}
		before := slices.Clone(p.Channels)
		p.SetHead("beta", "x.v1.2.3", false)
		text, err := p.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, problems := bundle.ParsePackage("f", text)
		if len(problems) > 0 {
			t.Fatalf("Bytes() =\n%s\n%s", text, problems)
		}
		if again.PackageName != p.PackageName || !slices.Equal(again.Channels, p.Channels) || again.DefaultChannelName != p.DefaultChannelName {
			t.Errorf("Bytes() of %+v =\n%s", p.PackageManifest, text)
		}
		if !slices.Contains(again.ChannelsOf("x.v1.2.3"), "beta") {
			t.Errorf("beta has no head in\n%s", text)
		}
		for _, c := range before {
			if c.Name != "beta" && !slices.Contains(again.Channels, c) {
				t.Errorf("channel %s is missing in\n%s", c.Name, text)
			}
		}
	})
}

// TestConvertChannels checks the channels of each version.
func TestConvertChannels(t *testing.T) {
	t.Parallel()
	csv := func(name, replaces string) bundle.PackageVersion {
		return bundle.PackageVersion{Dir: "p/" + name, Files: map[string][]byte{"csv.yaml": []byte(
			"apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: " + name + "\nspec:\n  replaces: " + replaces + "\n")}}
	}
	p, problems := bundle.ParsePackage("p/a.package.yaml", []byte(
		"packageName: a\ndefaultChannel: stable\nchannels:\n- {name: stable, currentCSV: a.v3}\n- {name: fast, currentCSV: a.v5}\n- {name: lts, currentCSV: a.v3}\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	bundles, _, err := bundle.Convert(p, []bundle.PackageVersion{
		csv("a.v1", "a.v0"), csv("a.v2", "a.v1"), csv("a.v3", "a.v2"), csv("a.v4", ""), csv("a.v5", "a.v2"),
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range bundles {
		got = append(got, b.CSV+": "+strings.Join(b.Channels, ","))
	}
	want := "a.v1: stable,fast,lts\na.v2: stable,fast,lts\na.v3: stable,lts\na.v4: stable\na.v5: fast"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}

	_, _, err = bundle.Convert(p, []bundle.PackageVersion{csv("a.v1", "a.v2"), csv("a.v2", "a.v1"), csv("a.v3", "a.v2"), {Dir: "p/a.v4", Files: csv("a.v3", "").Files}}, "test")
	wrong, _ := err.(diag.Findings)
	if len(wrong) != 2 || !strings.Contains(err.Error(), "p/a.v4/csv.yaml:4:3: the CSV a.v3 is also in p/a.v3") || !strings.Contains(err.Error(), "p/a.v1/csv.yaml:6:3: a.v1 replaces a.v2, which forms a cycle") {
		t.Errorf("%v", err)
	}
}

// TestConvertSizes checks that a version above the size limits is rejected.
func TestConvertSizes(t *testing.T) {
	t.Parallel()
	p, problems := bundle.ParsePackage("p/a.package.yaml", []byte("packageName: a\nchannels:\n- {name: stable, currentCSV: a.v1}\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\ndata:\n  text: " + strings.Repeat("the same again ", 110000) + "\n"
	_, _, err := bundle.Convert(p, []bundle.PackageVersion{{Dir: "p/1", Files: map[string][]byte{
		"csv.yaml": []byte("apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: a.v1\n"), "large.yaml": []byte(text),
	}}}, "test")
	if wrong, _ := err.(diag.Findings); len(wrong) != 1 || !strings.Contains(err.Error(), "p/1/large.yaml: is an object of 1.57 MiB") {
		t.Errorf("%v", err)
	}
}
