package cmd_test

import (
	"testing"
)

func TestOLM(t *testing.T) {
	t.Parallel()
	c := startOLMCluster(t)
	before := c.everything(t)
	_ = before
	out, errOut := c.must(t, 0, "install")
	t.Log(out, errOut)
	code, out, errOut := c.operon("status", "-o", "wide")
	t.Log(code, out, errOut)
	code, out, errOut = c.operon("uninstall")
	t.Log(code, out, errOut)
	after := c.everything(t)
	t.Log(len(before), len(after))
}
