package project

import (
	"strings"
	"testing"
)

func TestCharts(t *testing.T) {
	t.Parallel()
	c := newMemcached(t)
	before := string(c.Bytes())
	redis := Chart{Name: "redis", Source: "redis", Repo: "https://charts.example.com", Version: "1.2.3", Digest: "sha256:ab", Files: "sha256:cd"}
	check(t, c.SetChart(redis))
	check(t, c.SetChart(Chart{Name: "app", Version: "0.1.0", Files: "sha256:ef"}))
	want := `  operon.operatorframework.io/v1:
    charts:
    - digest: sha256:ab
      files: sha256:cd
      name: redis
      repo: https://charts.example.com
      source: redis
      version: 1.2.3
    - files: sha256:ef
      name: app
      version: 0.1.0
`
	if !strings.Contains(string(c.Bytes()), want) {
		t.Errorf("got\n%s\nwant\n%s", c.Bytes(), want)
	}
	again, err := Parse(c.Bytes())
	check(t, err)
	if got, ok := again.Chart("redis"); !ok || got != redis || len(again.Charts()) != 2 {
		t.Errorf("got %+v, %t, %+v", got, ok, again.Charts())
	}
	if _, ok := again.Chart("other"); ok {
		t.Error("found a chart that is not recorded")
	}
	redis.Version, redis.Repo = "2.0", ""
	check(t, c.SetChart(redis))
	if got, _ := c.Chart("redis"); got != redis || strings.Contains(string(c.Bytes()), "charts.example.com") {
		t.Errorf("got %+v in\n%s", got, c.Bytes())
	}
	if !strings.Contains(string(c.Bytes()), `version: "2.0"`) {
		t.Errorf("the version is a number:\n%s", c.Bytes())
	}
	check(t, c.RemoveChart("redis"))
	check(t, c.RemoveChart("redis"))
	check(t, c.RemoveChart("app"))
	if string(c.Bytes()) != before {
		t.Errorf("after removal:\n%s", c.Bytes())
	}
}

// An existing entry of Operon and its comments are kept.
func TestChartsBesideState(t *testing.T) {
	t.Parallel()
	text := strings.Replace(string(newMemcached(t).Bytes()), "plugins:\n", `plugins:
  operon.operatorframework.io/v1:
    charts: # ours
    - name: app # the only one
      note: mine
      version: 0.1.0
    namespaced: true
`, 1)
	c, err := Parse([]byte(text))
	check(t, err)
	check(t, c.SetChart(Chart{Name: "app", Version: "0.2.0"}))
	if want := strings.Replace(text, "0.1.0", "0.2.0", 1); string(c.Bytes()) != want {
		t.Errorf("got\n%s\nwant\n%s", c.Bytes(), want)
	}
	check(t, c.RemoveChart("app"))
	if strings.Contains(string(c.Bytes()), "charts") || !c.Namespaced() {
		t.Errorf("got\n%s", c.Bytes())
	}
}
