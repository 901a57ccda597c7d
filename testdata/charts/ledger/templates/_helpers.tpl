{{- define "ledger.name" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{- define "ledger.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ledger.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{ include "ledger.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "ledger.secret" -}}
{{- default (include "ledger.name" .) .Values.auth.existingSecret -}}
{{- end }}

{{/* The password of the values, or that of the existing Secret, or a new one. */}}
{{- define "ledger.password" -}}
{{- $secret := lookup "v1" "Secret" .Release.Namespace (include "ledger.name" .) -}}
{{- if .Values.auth.password -}}
{{- .Values.auth.password -}}
{{- else if and $secret $secret.data -}}
{{- index $secret.data "password" | b64dec -}}
{{- else -}}
{{- randAlphaNum 24 -}}
{{- end -}}
{{- end }}
