package scaffold

// Pinned returns the versions for new projects. They are part of this program: no command looks up the latest ones.
func Pinned() Versions {
	return Versions{
		Go:                "1.26.0",
		Kubernetes:        "1.37",
		ControllerRuntime: "v0.25.2",
		ControllerTools:   "v0.23.0",
		Kustomize:         "v5.8.1",
		GolangciLint:      "v2.12.2",
		OperatorSDK:       "v1.42.3",
		Envtest:           "1.36.3",
		OperatorUtil:      "0.5.0",
		KubernetesCore:    "6.3.0",
	}
}
