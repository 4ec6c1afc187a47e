package edge

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/requestsig"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// observeTimeout bounds the delay that SignaturesObserved adds to a request.
const observeTimeout = time.Second

// verifySignature verifies a request's signature with AccountService and returns its form,
// hmac or legacy. The signature of a read may be used again, because programs between client and
// edge repeat reads when a connection breaks.
func verifySignature(
	ctx context.Context, account accountv1.AccountServiceClient, r *http.Request, sentForm *form.Form, effect operation.Effect,
) (outcome string, err error) {
	sent, err := readSignature(sentForm)
	if err != nil {
		return "", err
	}
	request := &accountv1.VerifySignatureRequest{
		Key: sent.key, TimestampSeconds: sent.seconds, Use: accountv1.SignatureUse_SIGNATURE_USE_REPEATABLE,
	}
	if effect == operation.Writes {
		request.Use, request.RequestId = accountv1.SignatureUse_SIGNATURE_USE_ONCE, uuid.NewString()
	}
	parameters := signed(sentForm)
	if len(sent.digits) == hmacDigits {
		outcome = "hmac"
		digest := requestsig.Digest(requestsig.Canonical(r.Method, Path, parameters))
		request.Form = &accountv1.VerifySignatureRequest_Hmac{
			Hmac: &accountv1.HmacSignature{CanonicalSha256: digest[:], Signature: sent.digits},
		}
	} else {
		outcome = "legacy"
		if !requestsig.BindsOperation(parameters) {
			return "", failure.New("SIGNATURE_INVALID")
		}
		request.Form = &accountv1.VerifySignatureRequest_Legacy{
			Legacy: &accountv1.LegacySignature{Text: []byte(requestsig.LegacyText(parameters)), Signature: sent.digits},
		}
	}
	_, err = account.VerifySignature(ctx, request)
	return outcome, err
}

// signature is a signature as it was sent.
type signature struct {
	key     string
	seconds int64
	// digits has hmacDigits or legacyDigits lowercase hexadecimal digits.
	digits string
}

// The lengths of a signature in its two forms.
const (
	hmacDigits   = 64
	legacyDigits = 32
)

// The parameters of a signature (rule 13.1).
var (
	paramKey = form.Parameter{Name: "key", Hint: "1 to 64 letters, digits and . _ -"}
	paramTs  = form.Parameter{Name: "ts", Hint: "seconds since 1970"}
	paramSig = form.Parameter{Name: "sig", Hint: "64 lowercase hexadecimal digits"}
)

// readSignature reads the parameters of a signature. Each may come once: a second one could have
// been added on the way.
func readSignature(f *form.Form) (signature, error) {
	in := form.Reader{Form: f}
	if f.Count(paramSig.Name) == 0 {
		return signature{}, failure.New("SIGNATURE_REQUIRED")
	}
	sent := signature{
		key:     form.RequiredOnce(&in, &paramKey, "", asKey),
		seconds: form.RequiredOnce(&in, &paramTs, "", asSeconds),
		digits:  form.RequiredOnce(&in, &paramSig, "", asSignature),
	}
	if f := in.Failure(); f != nil {
		return signature{}, f
	}
	return sent, nil
}

// signed returns the parameters that a signature covers: all except sig, unknown ones included, in
// the bytes and the charset of the client. Each name occurs once, with the value that operations
// read.
func signed(f *form.Form) []requestsig.Parameter {
	effective := f.Effective()
	parameters := make([]requestsig.Parameter, 0, len(effective))
	for _, each := range effective {
		if each.Name != paramSig.Name {
			parameters = append(parameters, requestsig.Parameter{Name: each.Name, Value: each.Value})
		}
	}
	return parameters
}

// asKey accepts the keys that AccountService's contract allows.
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
		return 0, false // ParseInt would accept a sign
	}
	seconds, err := strconv.ParseInt(s, 10, 64)
	return seconds, err == nil && seconds <= form.MaxID
}

// asSignature accepts a signature of either form.
func asSignature(s string) (string, bool) {
	return s, (len(s) == hmacDigits || len(s) == legacyDigits) && isHex(s)
}
