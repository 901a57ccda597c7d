// Package proxy is the server between the modules of Ansible and the API server.
package proxy
