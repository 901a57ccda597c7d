package variables_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/variables"
)

func TestSnakeCase(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		// Results that operator-sdk documents or that its users have reported for versions since 0.19.
		"var": "var", "888": "888", "k8s_var": "k8s_var", "_k8s_var": "_k8s_var", "k8s var": "k8s_var", "k8sVar": "k8s_var",
		"ThisShouldHaveUnderscores": "_this_should_have_underscores", "_CanYou_Handle_mixedVars": "_can_you_handle_mixed_vars",
		"this_should_be_a_noop": "this_should_be_a_noop", "egressIPs": "egress_ips", " x ": "x", "URLsegressIPsEgressHTTPs": "_urls_egress_ips_egress_https",
		"serviceAccount": "service_account", "quotaName": "quota_name", "test_k8s_size": "test_k8s_size", "db2_init": "db2_init",
		"abc11def": "abc11def", "customapps-storage": "customapps_storage",
		// Results of its version 1.42.3.
		"a": "a", "A": "_a", "ABC": "_abc", "fooBAR": "foo_bar", "fooBARBaz": "foo_bar_baz", "planB": "plan_b",
		"podCIDR": "pod_cidr", "clusterIP": "cluster_ip", "IPAddress": "ip_address", "serviceURL": "service_url",
		"URLPath": "url_path", "baseURLPath": "base_url_path", "HTTPServer": "http_server", "enableHTTPS": "enable_http_s",
		"HTTPSProxy": "http_s_proxy", "s3Bucket": "s3_bucket", "ipV4Address": "ip_v4_address", "oauth2URL": "oauth2_url",
		"foo2BAR": "foo2bar", "foo2Bar": "foo2_bar", "httpURL": "http_url", "HTTPURL": "http__url",
		"app.kubernetes.io/name": "app.kubernetes.io/name", "a__b": "a__b", "enableIPAM": "enable_ip_am", "größeMAX": "größe_max",
		"hostIPC": "host_ip_c", "apiVIP": "api_v_ip", "IP": "__ip", "IPs": "__ips", "IPsIPs": "_ips_i_ps", "IPIPs": "ip_i_ps",
		"HTTPIP": "http__ip", "useHTTP2": "use_http_2", "cpu2x4": "cpu_2_x4", "a1b2c3": "a_1_b2c3", "IP2a2": "ip__2_a2", "aB": "ab",
		"aBc": "a_bc", "xAB": "xab", "-a": "_a", "A-B": "_a_b", "_A": "_a", ".Bc": "._bc",
		"URLegressIPEgressHTTP": "url_egress_ip_egress_http", "loadBalancerIP": "load_balancer_ip", "nodePort": "node_port",
		"externalIPs": "external_ips", "x-y": "x_y",
		// It cannot convert these.
		"": "", " ": "",
	} {
		if got := variables.SnakeCase(key); got != want {
			t.Errorf("SnakeCase(%q) = %q, want %q", key, got, want)
		}
	}
}

var letters = regexp.MustCompile(`[^a-zA-Z0-9]`)

// checkSnakeCase checks properties of all results.
func checkSnakeCase(t *testing.T, key string) {
	t.Helper()
	got := variables.SnakeCase(key)
	if strings.ContainsAny(got, "ABCDEFGHIJKLMNOPQRSTUVWXYZ -") {
		t.Errorf("SnakeCase(%q) = %q", key, got)
	}
	if a, b := letters.ReplaceAllString(strings.ToLower(key), ""), letters.ReplaceAllString(got, ""); a != b {
		t.Errorf("SnakeCase(%q) = %q has other letters", key, got)
	}
}

func FuzzSnakeCase(f *testing.F) {
	for _, key := range []string{"egressIPs", "URLsegressIPsEgressHTTPs", "HTTPSProxy", "_CanYou_Handle", "IPsIPIP", "aİb", "K"} {
		f.Add(key)
	}
	f.Fuzz(checkSnakeCase)
}
