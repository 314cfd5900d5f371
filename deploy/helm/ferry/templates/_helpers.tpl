{{- define "ferry.labels" -}}
app.kubernetes.io/name: ferry
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "ferry.selector" -}}
app.kubernetes.io/name: ferry
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: node
{{- end }}

{{- define "ferry.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "ferry.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "ferry.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "ferry.env" -}}
- name: FERRY_MODE
  value: production
- name: FERRY_PUBLIC_URL
  value: {{ required "publicUrl is required: the URL that clients use" .Values.publicUrl | quote }}
{{- if .Values.config }}
- name: FERRY_CONFIG
  value: /etc/ferry/ferry.json
{{- end }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.existingSecret }}
      key: DATABASE_URL
- name: FERRY_SECRET_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.existingSecret }}
      key: FERRY_SECRET_KEY
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "ferry.mounts" -}}
- name: tmp
  mountPath: /tmp
- name: data
  mountPath: /var/lib/ferry
{{- if .Values.config }}
- name: config
  mountPath: /etc/ferry
  readOnly: true
{{- end }}
{{- if .Values.databaseCaConfigMap }}
- name: database-ca
  mountPath: /etc/ferry-database
  readOnly: true
{{- end }}
{{- end }}

{{- define "ferry.volumes" -}}
- name: tmp
  emptyDir: {}
- name: data
  emptyDir: {}
{{- if .Values.config }}
- name: config
  configMap:
    name: {{ .Release.Name }}-config
{{- end }}
{{- if .Values.databaseCaConfigMap }}
- name: database-ca
  configMap:
    name: {{ .Values.databaseCaConfigMap }}
{{- end }}
{{- end }}
