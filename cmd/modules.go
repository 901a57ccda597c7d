package cmd

import (
	"strconv"

	"github.com/spf13/pflag"
)

// addOffline adds --offline to a command that downloads modules.
func (a *app) addOffline(f *pflag.FlagSet) {
	f.BoolVar(&a.offline, "offline", false, "use only the module cache, and fail if modules are missing")
}

// allowRemoteVariable is the environment variable that sets the default of --allow-remote-resources.
const allowRemoteVariable = "OPERON_ALLOW_REMOTE_RESOURCES"

// addAllowRemote adds --allow-remote-resources to a command that builds kustomizations of the project.
func (a *app) addAllowRemote(f *pflag.FlagSet) {
	allowed, _ := strconv.ParseBool(a.Getenv(allowRemoteVariable))
	f.BoolVar(&a.allowRemote, "allow-remote-resources", allowed, "let kustomizations load files and repositories from other machines, by HTTPS or SSH")
}
