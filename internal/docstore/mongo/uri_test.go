package mongo

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
)

func TestAMalformedURIIsReportedWithoutItsPassword(t *testing.T) {
	for name, test := range map[string]struct{ uri, want string }{
		"a newline":             {"mongodb://amy:s3cr3t@db1/\n", "white space"},
		"another scheme":        {"https://amy:s3cr3t@db1/", "want mongodb://HOST/DATABASE"},
		"no scheme":             {"db1:27017", "want mongodb://HOST/DATABASE"},
		"nothing":               {"", "want mongodb://HOST/DATABASE"},
		"no host":               {"mongodb://", "malformed"},
		"a password as it is":   {"mongodb://amy:s3cr3t/@@db1/waybook", "percent-encode"},
		"an option":             {"mongodb://db1/?maxPoolSize=s3cr3t", "the options"},
		"a port of letters":     {"mongodb://amy:s3cr3t/db1", "percent-encode"},
		"an option, a password": {"mongodb://amy:s3cr3t@db1/?maxPoolSize=s3cr3t", "check the hosts, the database and the options"},
		"a missing file":        {"mongodb://db1/?tls=true&tlsCAFile=/nonexistent", "/nonexistent"},
		"@ and a slash":         {"mongodb://amy:pass@s3cr3t/s3cr3t@db1/waybook", "@ as %40"},
		"@ and two slashes":     {"mongodb://amy:pass@s3cr3t/s3cr3t/db1", "/ as %2F"},
		"@ and an option":       {"mongodb://amy:pass@s3cr3t/?appName=s3cr3t@db1/waybook", "@ as %40"},
		"records of an @":       {"mongodb+srv://amy:pass@s3cr3t/s3cr3t@db.example/waybook", "@ as %40"},
		"records of a slash":    {"mongodb+srv://amy:1/s3cr3t@db.example/waybook", "@ as %40"},
		"records of a colon":    {"mongodb+srv://amy:s3cr3t/db.example", "percent-encode"},
		"records of a port":     {"mongodb+srv://amy:s3cr3t@db.example:27017/", "one host name without a port"},
		"records of two hosts":  {"mongodb+srv://db1.example,db2.example/", "one host name without a port"},
		"records of no host":    {"mongodb+srv:///waybook", "one host name"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckURI(test.uri)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%v tells the password", err)
			}
		})
	}
}

func TestAURIIsCheckedWithoutDNS(t *testing.T) {
	for _, uri := range []string{
		"mongodb://db1", "mongodb://amy:s3cr3t@db1:27017,db2:27018/travel?authSource=admin&replicaSet=rs0",
		"mongodb+srv://amy:s3cr3t@nowhere.invalid/waybook?retryWrites=true",
	} {
		if err := CheckURI(uri); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestAPasswordInAURIIsFound(t *testing.T) {
	for uri, want := range map[string]bool{
		"mongodb://db1:27017,db2:27017/waybook?replicaSet=rs0":            false,
		"mongodb://CN%3Damy@db1/?authMechanism=MONGODB-X509":              false,
		"mongodb://amy:s3cr3t@db1/":                                       true,
		"mongodb+srv://amy:s3cr3t@db.example/":                            true,
		"mongodb://db1/?tlsCertificateKeyFilePassword=s3cr3t":             true,
		"mongodb://db1/?authMechanismProperties=AWS_SESSION_TOKEN:s3cr3t": true,
	} {
		if MayHavePassword(uri) != want {
			t.Errorf("%s: want %t", uri, want)
		}
	}
}

// The driver parses every URI that CheckURI takes: then the hosts and the database, which the log shows, are what
// the grammar says.
func FuzzNoPartOfAMalformedURIIsShown(f *testing.F) {
	for _, uri := range []string{
		"wb:s3cr@t/pw@db.example/waybook", "wb:s3cr%40t@db.example/waybook?appName=x", "[::1]:27017/?tls=true",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		if strings.Contains(rest, "tls") || strings.Contains(rest, "ssl") {
			t.Skip("it may name a file")
		}
		const secret = "s3cr3t"
		first, second, _ := strings.Cut(rest, "@")
		uri := "mongodb://" + first + secret + "@" + second
		if err := CheckURI(uri); err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%q: %v", uri, err)
			}
			return
		}
		parsed, err := connstring.ParseAndValidate(uri)
		must(t, err)
		if at := location(parsed, parsed.Database); strings.ContainsAny(at, "@") || strings.Count(at, "/") != 1 {
			t.Errorf("%q: the log shows %q", uri, at)
		}
	})
}
