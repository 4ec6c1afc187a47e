package mongo

import (
	"strings"
	"testing"
)

func TestAMalformedURIIsReportedWithoutItsPassword(t *testing.T) {
	for name, test := range map[string]struct{ uri, want string }{
		"a newline":             {"mongodb://amy:s3cr3t@db1/\n", "white space"},
		"another scheme":        {"https://amy:s3cr3t@db1/", "want mongodb://HOST/DATABASE"},
		"no scheme":             {"db1:27017", "want mongodb://HOST/DATABASE"},
		"nothing":               {"", "want mongodb://HOST/DATABASE"},
		"no host":               {"mongodb://", "malformed"},
		"a password as it is":   {"mongodb://amy:s3cr3t/@@db1/waybook", "percent-encode"},
		"an option":             {"mongodb://db1/?maxPoolSize=many", "many"},
		"an option, a password": {"mongodb://amy:s3cr3t@db1/?maxPoolSize=s3cr3t", "check the hosts, the database and the options"},
		"a missing file":        {"mongodb://db1/?tls=true&tlsCAFile=/nonexistent", "/nonexistent"},
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
