package main

import (
	_ "github.com/google/go-containerregistry/pkg/v1/remote"
	_ "github.com/operator-framework/api/pkg/operators/v1alpha1"
	_ "github.com/operator-framework/api/pkg/validation"
	_ "github.com/operator-framework/operator-registry/alpha/declcfg"
)
