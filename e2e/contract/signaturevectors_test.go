package contract

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/internal/requestsig"
)

// vector is a test vector of the specification.
type vector struct {
	Method, Secret  string
	Parameters      [][2]string
	Canonical       string
	SHA256          string
	Signature       string
	LegacyText      string `json:"legacy_text"`
	LegacySignature string `json:"legacy_signature"`
	LegacyIsRefused bool   `json:"legacy_is_refused"`
}

// vectors returns the test vectors of the specification.
func vectors(t *testing.T) (all []vector) {
	t.Helper()
	blocks, err := examples.Blocks(examples.Docs + "signatures.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		if block.Language != "json" {
			continue
		}
		if err := json.Unmarshal([]byte(block.Text), &all); err != nil {
			t.Fatalf("line %d: %v", block.Line, err)
		}
	}
	if len(all) < 4 {
		t.Fatalf("there are %d vectors", len(all))
	}
	return all
}

// merged returns the vector's parameters after the specification's first step.
func (v vector) merged() (parameters []requestsig.Parameter) {
	last := map[string]string{}
	for _, p := range v.Parameters {
		last[p[0]] = p[1]
	}
	delete(last, "sig")
	for name, value := range last {
		parameters = append(parameters, requestsig.Parameter{Name: name, Value: value})
	}
	return parameters
}

func TestTheImplementationMatchesTheVectorsOfTheSpecification(t *testing.T) {
	for _, v := range vectors(t) {
		canonical := requestsig.Canonical(v.Method, "/API.php", v.merged())
		digest := requestsig.Digest(canonical)
		text := requestsig.LegacyText(v.merged())
		for _, made := range []struct{ what, got, want string }{
			{"canonical", canonical, v.Canonical},
			{"sha256", hex.EncodeToString(digest[:]), v.SHA256},
			{"signature", requestsig.Sign(v.Secret, digest), v.Signature},
			{"legacy_text", text, v.LegacyText},
			{"legacy_signature", requestsig.SignLegacy(v.Secret, text), v.LegacySignature},
		} {
			if made.got != made.want {
				t.Errorf("%s of %q is %q, want %q", made.what, v.Canonical, made.got, made.want)
			}
		}
		if binds := requestsig.BindsOperation(v.merged()); binds == v.LegacyIsRefused {
			t.Errorf("BindsOperation of %q is %v", v.LegacyText, binds)
		}
	}
}
