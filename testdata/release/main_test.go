package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args, epoch, want string
	}{
		"no version":       {"-date 2026-01-02T03:04:05Z", "", `version "": must be a semantic version such as v1.2.3; pass VERSION=v1.2.3 to make`},
		"without v":        {"-version 1.2.3 -date 2026-01-02T03:04:05Z", "", `version "1.2.3": must be`},
		"short version":    {"-version v1.2 -date 2026-01-02T03:04:05Z", "", `version "v1.2": must be`},
		"platform":         {"-version v1.2.3 -date 2026-01-02T03:04:05Z -platforms linux/amd64,plan9/amd64", "", `platform "plan9/amd64": must be one of [linux/amd64 linux/arm64 `},
		"no date":          {"-version v1.2.3", "", "set SOURCE_DATE_EPOCH"},
		"date":             {"-version v1.2.3 -date today", "", `date "today": must have the form`},
		"epoch":            {"-version v1.2.3", "x", `SOURCE_DATE_EPOCH "x": must be a number`},
		"before zip's era": {"-version v1.2.3", "0", "date 1970-01-01: must be 1980 or later"},
		"argument":         {"-version v1.2.3 all", "", `"all": takes no arguments`},
	} {
		if _, err := parse(strings.Fields(test.args), func(key string) string {
			return map[string]string{"SOURCE_DATE_EPOCH": test.epoch}[key]
		}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got the error %v, want %s", name, err, test.want)
		}
	}

	r, err := parse([]string{"-version", "v1.2.3", "-date", "2026-01-02T03:04:05Z", "-platforms", "windows/amd64 linux/arm64 linux/arm64"},
		func(key string) string { return map[string]string{"SOURCE_DATE_EPOCH": "1000000000"}[key] })
	if err != nil {
		t.Fatal(err)
	}
	if want := []platform{{"linux", "arm64"}, {"windows", "amd64"}}; !slices.Equal(r.platforms, want) {
		t.Errorf("got the platforms %v, want %v", r.platforms, want)
	}
	if !r.date.Equal(time.Unix(1e9, 0)) || r.baseURL != "https://github.com/operon-sdk/operon/releases/download/v1.2.3" {
		t.Errorf("got %s and %s", r.date, r.baseURL)
	}
}
