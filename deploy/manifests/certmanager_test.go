package manifests_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const certManager = "cert-manager.io/v1"

// certificate has the fields of cert-manager's Certificate that the manifests use, and issuer those
// of its Issuer. cert-manager's own types are in a module with 200 dependencies.
type certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		SecretName  string          `json:"secretName"`
		CommonName  string          `json:"commonName,omitempty"`
		DNSNames    []string        `json:"dnsNames,omitempty"`
		IPAddresses []string        `json:"ipAddresses,omitempty"`
		IsCA        bool            `json:"isCA,omitempty"`
		Duration    metav1.Duration `json:"duration"`
		RenewBefore metav1.Duration `json:"renewBefore"`
		Usages      []string        `json:"usages,omitempty"`
		PrivateKey  struct {
			Algorithm      string `json:"algorithm"`
			Size           int    `json:"size"`
			RotationPolicy string `json:"rotationPolicy"`
		} `json:"privateKey"`
		IssuerRef struct {
			Name string `json:"name"`
			Kind string `json:"kind"`
		} `json:"issuerRef"`
	} `json:"spec"`
}

type issuer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		SelfSigned *struct{} `json:"selfSigned,omitempty"`
		CA         *struct {
			SecretName string `json:"secretName"`
		} `json:"ca,omitempty"`
	} `json:"spec"`
}

func (c *cluster) addCertManager(kind string, document []byte) error {
	switch kind {
	case "Certificate":
		c.certificates = append(c.certificates, &certificate{})
		return unmarshalStrictly(document, c.certificates[len(c.certificates)-1])
	case "Issuer":
		c.issuers = append(c.issuers, &issuer{})
		return unmarshalStrictly(document, c.issuers[len(c.issuers)-1])
	}
	return fmt.Errorf("no check covers cert-manager's %s", kind)
}

// unmarshalStrictly is as strict as the API server, including the case of field names.
func unmarshalStrictly(document []byte, into any) error {
	raw, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	unknown, err := json.UnmarshalStrict(raw, into)
	return errors.Join(append(unknown, err)...)
}

// checkCertificates checks, if cert-manager is used, that each process has a certificate from an
// existing issuer, with its own name and the names by which it is dialled.
func checkCertificates(c *cluster, complain complain) {
	if (len(c.certificates) > 0) != c.variant.has("cert-manager") {
		complain("unexpected number of certificates: %d", len(c.certificates))
	}
	if len(c.certificates) == 0 {
		return
	}
	issuers := map[string]bool{}
	for _, issuer := range c.issuers {
		issuers[issuer.Name] = issuer.Spec.SelfSigned != nil || issuer.Spec.CA != nil && c.certificate(issuer.Spec.CA.SecretName) != nil
	}
	for _, certificate := range c.certificates {
		spec := certificate.Spec
		if !issuers[spec.IssuerRef.Name] || spec.IssuerRef.Kind != "Issuer" {
			complain("certificate %s: no issuer %s", certificate.Name, spec.IssuerRef.Name)
		}
		if spec.RenewBefore.Duration <= 0 || spec.RenewBefore.Duration >= spec.Duration.Duration {
			complain("certificate %s is not renewed in time", certificate.Name)
		}
	}
	for _, name := range []string{"edge", "account", "album", "blog", "poi", "operator"} {
		found := c.certificate("waybook-" + name + "-tls")
		switch {
		case found == nil:
			complain("%s has no certificate", name)
		case !slices.Contains(found.Spec.DNSNames, name), found.Spec.IssuerRef.Name != "waybook",
			!slices.Contains(found.Spec.Usages, "server auth"), !slices.Contains(found.Spec.Usages, "client auth"):
			complain("the certificate of %s is for %v to %v", name, found.Spec.DNSNames, found.Spec.Usages)
		case c.service(name) != nil && name != "edge":
			// By these, callers in other namespaces dial it, and waybookctl through kubectl port-forward.
			for _, host := range []string{name + "." + cmp.Or(c.variant.namespace, "waybook") + ".svc", "localhost"} {
				if !slices.Contains(found.Spec.DNSNames, host) {
					complain("the certificate of %s is not for %s", name, host)
				}
			}
			if !slices.Equal(found.Spec.IPAddresses, []string{"127.0.0.1"}) {
				complain("the certificate of %s is for the addresses %v", name, found.Spec.IPAddresses)
			}
		}
	}
}

func (c *cluster) certificate(secret string) *certificate {
	for _, certificate := range c.certificates {
		if certificate.Spec.SecretName == secret {
			return certificate
		}
	}
	return nil
}
