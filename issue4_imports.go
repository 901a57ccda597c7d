package main

import (
	_ "github.com/operator-framework/operator-registry/alpha/declcfg"
)
