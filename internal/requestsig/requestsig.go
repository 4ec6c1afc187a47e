// Package requestsig computes the signatures of requests to the legacy interface, as
// docs/signatures.md specifies them. The edge computes the signed content. The account
// service keeps the secrets and computes the signatures.
package requestsig

import (
	"cmp"
	"crypto/hmac"
	"crypto/md5" // #nosec G501 -- the legacy form requires MD5
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Parameter is one parameter of a request, decoded.
type Parameter struct{ Name, Value string }

// Canonical returns the string that a signature covers: the method, the path and the
// parameters. The parameters may be in any order but must have different names.
//
// Different requests have different canonical strings, because names and values are
// escaped: they contain no line feed, `=` or `&`.
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

// Digest returns the SHA-256 of a canonical string. The edge sends only this digest to the
// account service, which therefore learns neither the parameters nor their length.
func Digest(canonical string) [sha256.Size]byte { return sha256.Sum256([]byte(canonical)) }

// Sign returns the signature of a digest: the HMAC-SHA256 of its 64 lowercase hexadecimal
// digits, also in lowercase hexadecimal digits. It signs digits instead of bytes, because
// common command line tools print digits.
func Sign(secret string, digest [sha256.Size]byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(hex.EncodeToString(digest[:])))
	return hex.EncodeToString(mac.Sum(nil))
}

// LegacyText returns the text that a signature in the legacy form covers, without the
// secret. The text is ambiguous: a=1b=2 may be one parameter or two. See BindsOperation.
func LegacyText(parameters []Parameter) string {
	var out strings.Builder
	for _, p := range sorted(parameters) {
		out.WriteString(p.Name + "=" + p.Value)
	}
	return out.String()
}

// SignLegacy returns the signature in the legacy form: an MD5 sum in 32 lowercase
// hexadecimal digits.
func SignLegacy(secret, text string) string {
	sum := md5.Sum([]byte(text + secret)) // #nosec G401 -- the legacy form requires MD5
	return hex.EncodeToString(sum[:])
}

// BindsOperation reports whether a signature in the legacy form binds what a request does,
// who signed it and when. The legacy text does not show where a parameter begins, so a value
// can hide other parameters, and a signed read could be sent again as a write.
//
// The text of a bound request has func=, key= and ts= once each, also inside of names and
// values. Every request has these three parameters. Any other request with this text
// therefore has them in the same places, so it has the same func, as long as no name of an
// operation begins with another one's. A deletion must have no parameter before delete but
// one number, its identifier. Otherwise a title could hide delete.
func BindsOperation(parameters []Parameter) bool {
	text := LegacyText(parameters)
	for _, name := range [...]string{"func=", "key=", "ts="} {
		if strings.Count(text, name) != 1 {
			return false
		}
	}
	ordered := sorted(parameters)
	at := slices.IndexFunc(ordered, func(p Parameter) bool {
		return p.Name == "delete" && (p.Value == "1" || strings.EqualFold(p.Value, "true"))
	})
	return at <= 0 || at == 1 && isNumber(ordered[0].Value)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// sorted returns the parameters sorted by the bytes of their names.
func sorted(parameters []Parameter) []Parameter {
	return slices.SortedFunc(slices.Values(parameters), func(a, b Parameter) int { return cmp.Compare(a.Name, b.Name) })
}

// writeEscaped percent-encodes every byte except the unreserved characters of RFC 3986,
// with uppercase hexadecimal digits.
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
