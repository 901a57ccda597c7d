package cmd_test

func bundleDifferences() map[string]bundleDifference {
	return map[string]bundleDifference{}
}
