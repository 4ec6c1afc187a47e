// Package requestsig is how requests to the legacy interface are signed, as
// docs/signatures.md specifies it: the edge makes what was signed, and the account
// service, which keeps the secrets, the signatures.
package requestsig

import (
	"cmp"
	"crypto/hmac"
	"crypto/md5" // #nosec G501 -- what the legacy form is
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Parameter is one parameter of a request, decoded.
type Parameter struct{ Name, Value string }

// Canonical is what a signature is about: method, path and parameters, which must have
// different names, in any order. Requests that differ have canonical strings that
// differ: the only lines and the only `=` and `&` in one are those put there here.
func Canonical(method, path string, parameters []Parameter) string {
	var out strings.Builder
	out.WriteString(method + "\n" + path + "\n")
	for i, p := range sorted(parameters) {
		if i > 0 {
			out.WriteByte('&')
		}
		writeEscaped(&out, p.Name)
		out.WriteByte('=')
		writeEscaped(&out, p.Value)
	}
	return out.String()
}

// Digest is the SHA-256 of a canonical string. It is what goes to the account service,
// which so gets to know neither the parameters nor how long they are.
func Digest(canonical string) [sha256.Size]byte { return sha256.Sum256([]byte(canonical)) }

// Sign is the signature of a digest: the HMAC-SHA256 of its 64 lowercase hexadecimal
// digits, in such digits too. Digits and not bytes, as programs that are at hand
// everywhere print digits.
func Sign(secret string, digest [sha256.Size]byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(hex.EncodeToString(digest[:])))
	return hex.EncodeToString(mac.Sum(nil))
}

// LegacyText is what a signature in the legacy form is about, without the secret. It
// does not tell a=1b=2 of one parameter from that of two.
func LegacyText(parameters []Parameter) string {
	var out strings.Builder
	for _, p := range sorted(parameters) {
		out.WriteString(p.Name + "=" + p.Value)
	}
	return out.String()
}

// SignLegacy is the signature in the legacy form: MD5, 32 lowercase hexadecimal digits.
func SignLegacy(secret, text string) string {
	sum := md5.Sum([]byte(text + secret)) // #nosec G401 -- what the legacy form is
	return hex.EncodeToString(sum[:])
}

// sorted returns the parameters by the bytes of their names.
func sorted(parameters []Parameter) []Parameter {
	return slices.SortedFunc(slices.Values(parameters), func(a, b Parameter) int { return cmp.Compare(a.Name, b.Name) })
}

// writeEscaped writes a text percent-encoded: every byte but the unreserved characters
// of RFC 3986, in uppercase hexadecimal.
func writeEscaped(out *strings.Builder, s string) {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; isUnreserved(c) {
			out.WriteByte(c)
		} else {
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}
