package edge

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/waybook/waybook/internal/requestsig"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Signatures says what becomes of the parameters key, ts and sig, by which an
// application signs a request (docs/signatures.md). As a flag it is a word.
type Signatures int

const (
	// SignaturesIgnored: they are parameters like others that are not known.
	SignaturesIgnored Signatures = iota
	// SignaturesObserved: each request is verified and the outcome told to
	// Config.Observe, and served whatever it is. A signature that may be used once
	// is used up by it, so that the outcomes are those of SignaturesRequired.
	SignaturesObserved
	// SignaturesRequired: a request without a right signature fails.
	SignaturesRequired
)

// String is the flag's value.
func (s Signatures) String() string {
	return [...]string{SignaturesIgnored: "off", SignaturesObserved: "observe", SignaturesRequired: "require"}[s]
}

// Set reads the flag's value.
func (s *Signatures) Set(value string) error {
	for _, each := range [...]Signatures{SignaturesIgnored, SignaturesObserved, SignaturesRequired} {
		if value == each.String() {
			*s = each
			return nil
		}
	}
	return fmt.Errorf("%q is none of off, observe and require", value)
}

// observeTimeout bounds what looking at signatures adds to a request that is served
// in any case.
const observeTimeout = time.Second

// checkSignature refuses a request that is not signed as it has to be.
func (x *exchange) checkSignature(effect effect) error {
	if x.handler.config.Signatures == SignaturesIgnored {
		return nil
	}
	form, err := x.verifySignature(effect)
	if err == nil {
		x.signature = form
		return nil
	}
	if x.leftDuring(err) {
		return err
	}
	failure := failureOf(err, &input{})
	x.signature = failure.reason
	if x.handler.config.Signatures == SignaturesObserved {
		x.log(failure)
		return nil
	}
	return failure
}

// verifySignature asks AccountService about the request's signature, whose form it
// returns when it is right. What changes nothing may be sent again as it is: programs
// between client and edge do so when a connection breaks.
func (x *exchange) verifySignature(effect effect) (form string, err error) {
	sent, err := readSignature(&x.form)
	if err != nil {
		return "", err
	}
	request := &accountv1.VerifySignatureRequest{
		Key: sent.key, TimestampSeconds: sent.seconds, Use: accountv1.SignatureUse_SIGNATURE_USE_REPEATABLE,
	}
	if effect == writes {
		request.Use, request.RequestId = accountv1.SignatureUse_SIGNATURE_USE_ONCE, newRequestID()
	}
	parameters := x.form.signed()
	if len(sent.digits) == hmacDigits {
		form = "hmac"
		digest := requestsig.Digest(requestsig.Canonical(x.request.Method, Path, parameters))
		request.Form = &accountv1.VerifySignatureRequest_Hmac{
			Hmac: &accountv1.HmacSignature{CanonicalSha256: digest[:], Signature: sent.digits},
		}
	} else {
		form = "legacy"
		request.Form = &accountv1.VerifySignatureRequest_Legacy{
			Legacy: &accountv1.LegacySignature{Text: requestsig.LegacyText(parameters), Signature: sent.digits},
		}
	}
	ctx, cancel := x.callContext()
	defer cancel()
	if x.handler.config.Signatures == SignaturesObserved {
		ctx, cancel = context.WithTimeout(ctx, observeTimeout)
		defer cancel()
	}
	_, err = x.handler.config.Account.VerifySignature(ctx, request)
	return form, err
}

// signature is a signature as it was sent.
type signature struct {
	key     string
	seconds int64
	// digits are hmacDigits or legacyDigits lowercase hexadecimal digits.
	digits string
}

// The lengths of a signature in its two forms.
const (
	hmacDigits   = 64
	legacyDigits = 32
)

// readSignature reads the parameters of a signature. Each may be there once: another
// would be the work of somebody on the way.
func readSignature(f *form) (signature, error) {
	in := input{form: f}
	if f.count(paramSig.name) == 0 {
		return signature{}, plainFailure("SIGNATURE_REQUIRED")
	}
	sent := signature{
		key:     requiredOnce(&in, &paramKey, asKey),
		seconds: requiredOnce(&in, &paramTs, asSeconds),
		digits:  requiredOnce(&in, &paramSig, asSignature),
	}
	if f := in.failure(); f != nil {
		return signature{}, f
	}
	return sent, nil
}

// requiredOnce reads a parameter that must be there, and not twice.
func requiredOnce[T any](in *input, p *parameter, convert func(string) (T, bool)) T {
	if in.form.count(p.name) > 1 {
		several := &parameter{name: p.name, hint: "send it once"}
		in.readings = append(in.readings, reading{several, stateInvalid})
		var zero T
		return zero
	}
	return required(in, p, convert)
}

// signed returns the parameters that a signature covers, as operations read them: each
// name once, and all of them, known or not, but sig.
func (f *form) signed() []requestsig.Parameter {
	parameters := make([]requestsig.Parameter, 0, len(f.fields))
	seen := make(map[string]bool, len(f.fields))
	for i := len(f.fields) - 1; i >= 0; i-- {
		if each := f.fields[i]; each.name != paramSig.name && !seen[each.name] {
			seen[each.name] = true
			parameters = append(parameters, requestsig.Parameter{Name: each.name, Value: each.value})
		}
	}
	return parameters
}

// asKey accepts the keys that the contract of AccountService has.
func asKey(s string) (string, bool) {
	const longest = 64
	if s == "" || len(s) > longest {
		return "", false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return "", false
		}
	}
	return s, true
}

// asSeconds accepts a time in whole seconds since 1970.
func asSeconds(s string) (int64, bool) {
	const longest = len("9007199254740991")
	if len(s) > longest || s != "" && (s[0] < '0' || s[0] > '9') {
		return 0, false // ParseInt takes a sign
	}
	seconds, err := strconv.ParseInt(s, 10, 64)
	return seconds, err == nil && seconds <= maxID
}

// asSignature accepts the digits of either form.
func asSignature(s string) (string, bool) {
	return s, (len(s) == hmacDigits || len(s) == legacyDigits) && isHex(s)
}
