package manifest

// Variables of managers that issue the certificate of their webhook server, as "create webhook --certificates self-managed" writes them:
// the Secret that keeps the certificate, the Service that it is for, and the namespace of both. Without the first one, a manager reads a
// certificate from files.
const (
	IssuerSecretVar    = "WEBHOOK_SECRET"
	IssuerServiceVar   = "WEBHOOK_SERVICE"
	IssuerNamespaceVar = "WEBHOOK_NAMESPACE"
)

// InjectLabel is the label of webhook configurations and CRDs that get the CA of such a manager.
const InjectLabel = "inject-webhook-ca"
