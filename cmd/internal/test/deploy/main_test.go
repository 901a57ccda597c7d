package deploy

import (
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

func TestMain(m *testing.M) { clitest.MainOfWaiting(m) }
