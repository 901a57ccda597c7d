package cmd

import "github.com/spf13/cobra"

func newRenameAPI(a *app) *cobra.Command { return &cobra.Command{Use: "api"} }
