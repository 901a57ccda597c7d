package operatorchart

import (
	"slices"
	"strconv"
	"strings"
)

// longestRun returns the longest range of indices below a length that all fulfill a condition, the first one of several.
func longestRun(length int, is func(i int) bool) (from, to int) {
	start := 0
	for i := range length {
		if !is(i) {
			start = i + 1
		} else if i+1-start > to-from {
			from, to = start, i+1
		}
	}
	return from, to
}

// valueArgs returns the range of the arguments that are a value of the chart: those that neither a switch decides about nor the release. The
// order of all arguments is kept, so that they are adjacent.
func (p *parts) valueArgs(args []any) (from, to int) {
	return longestRun(len(args), func(i int) bool {
		if !isPlainArg(args[i]) {
			return false
		}
		_, isPlain := p.text(args[i].(string)).(string)
		return isPlain
	})
}

// args returns the arguments of the manager: those that switches decide about, and in the place of the others the value with them.
func (p *parts) args(args sequence) sequence {
	var original []any
	for _, arg := range args {
		original = append(original, arg.value)
	}
	from, to := p.valueArgs(original)
	result := sequence{}
	for _, arg := range args[:from] {
		result = append(result, p.switchedArgs(arg)...)
	}
	result = append(result, entry{some: ".Values.manager.args", lines: func(indent int) string { return chartBlock("args", indent) }})
	for _, arg := range args[to:] {
		result = append(result, p.switchedArgs(arg)...)
	}
	if p.settings.HasSecure && !slices.ContainsFunc(args, func(e entry) bool { return isFlag(e.value, "metrics-secure") }) {
		result = append(result, entry{value: "--metrics-secure=false", given: "and .Values.metrics.enabled (not .Values.metrics.secure)"})
	}
	return result
}

// isPlainArg reports whether an argument is a string that no switch decides about.
func isPlainArg(arg any) bool {
	text, ok := arg.(string)
	return ok && isValueArg(text)
}

// isValueArg reports whether an argument is part of the value with arguments.
func isValueArg(arg string) bool {
	for _, flag := range []string{"metrics-bind-address", "metrics-secure", "health-probe-bind-address", "webhook-port"} {
		if isFlag(arg, flag) {
			return false
		}
	}
	return !strings.HasPrefix(arg, "--webhook-cert-") && !strings.HasPrefix(arg, "--metrics-cert-")
}

func isFlag(arg any, flag string) bool {
	text, _ := arg.(string)
	return text == "--"+flag || strings.HasPrefix(text, "--"+flag+"=")
}

// switchedArgs returns an argument that switches decide about.
func (p *parts) switchedArgs(arg entry) sequence {
	text, _ := arg.value.(string)
	flag, value, _ := strings.Cut(text, "=")
	host := value[:strings.LastIndexByte(value, ':')+1]
	switch {
	case flag == "--metrics-bind-address" && p.settings.MetricsPort > 0:
		return sequence{
			{value: expression(flag + "=" + host + "{{ .Values.metrics.port }}"), given: metricsOn},
			{value: flag + "=0", given: "not " + metricsOn},
		}
	case text == "--metrics-secure":
		return sequence{{value: text, given: ".Values.metrics.secure"}, {value: text + "=false", given: "not .Values.metrics.secure"}}
	case flag == "--metrics-secure":
		return sequence{{value: expression(flag + "={{ .Values.metrics.secure }}")}}
	case flag == "--health-probe-bind-address" && p.settings.HealthPort > 0:
		return sequence{{value: expression(flag + "=" + host + "{{ .Values.manager.healthProbe.port }}")}}
	case flag == "--webhook-port" && p.settings.WebhookPort > 0 && value == strconv.FormatInt(p.settings.WebhookPort, 10):
		return sequence{{value: expression(flag + "={{ .Values.webhook.port }}"), given: webhooksOn}}
	case strings.HasPrefix(flag, "--webhook-cert-") && len(p.webhooks) > 0:
		arg.given = webhooksOn
	case strings.HasPrefix(flag, "--metrics-cert-") && p.settings.HasCertificates:
		arg.given = "and .Values.metrics.enabled .Values.certManager.enabled"
	}
	return sequence{arg}
}

// watchVariable is the variable with the namespaces that the manager watches.
const watchVariable = "WATCH_NAMESPACE"

// valueEnv returns the range of the variables that are a value of the chart: those that neither a switch decides about nor the release. The order
// of all variables is kept, so that they are adjacent.
func (p *parts) valueEnv(env []any) (from, to int) {
	return longestRun(len(env), func(i int) bool {
		m, _ := env[i].(mapping)
		return !hasExpression(env[i]) && !isIssuerVariable(m) && (m.at("name") != watchVariable || len(p.managers) == 0)
	})
}

// env returns the variables of the manager: those that switches decide about, and in the place of the others the value with them.
func (p *parts) env(env sequence) sequence {
	var original []any
	has := map[any]bool{}
	for _, variable := range env {
		original = append(original, variable.value)
		if m, ok := variable.value.(mapping); ok {
			has[m.at("name")] = true
		}
	}
	watchOne := entry{given: namespaced, value: mapping{{key: "name", value: watchVariable}, {key: "valueFrom", value: mapping{
		{key: "fieldRef", value: mapping{{key: "fieldPath", value: "metadata.namespace"}}}}}}}
	switched := func(variables sequence) (result sequence) {
		for _, variable := range variables {
			if m, ok := variable.value.(mapping); ok && m.at("name") == watchVariable && len(p.managers) > 0 {
				result = append(result, watchOne)
				variable.given = "not " + namespaced
			} else if ok && isIssuerVariable(m) && len(p.webhooks) > 0 {
				variable.given = webhooksOn
			}
			result = append(result, variable)
		}
		return result
	}
	from, to := p.valueEnv(original)
	result := slices.Concat(switched(env[:from]), sequence{{
		some: "or .Values.manager.env .Values.manager.envOverrides", lines: func(indent int) string { return chartBlock("env", indent) },
	}}, switched(env[to:]))
	if len(p.webhooks) > 0 && !has["ENABLE_WEBHOOKS"] {
		result = append(result, entry{given: "not " + webhooksOn, value: mapping{{key: "name", value: "ENABLE_WEBHOOKS"}, {key: "value", value: "false"}}})
	}
	if len(p.managers) > 0 && !has[watchVariable] {
		result = append(result, watchOne)
	}
	return result
}
