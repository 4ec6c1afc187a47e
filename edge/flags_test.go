package edge

import (
	"flag"
	"testing"
)

func TestASettingTakesItsValuesAndStaysAsItIsForOthers(t *testing.T) {
	for _, c := range []struct {
		setting flag.Value
		// taken are values in turn, with what they read back as. The last one stays.
		taken   [][2]string
		refused []string
	}{
		{
			new(TrustedProxies),
			[][2]string{
				{" 1 ", "1"}, {"", ""}, {"16", "16"}, {"0", ""}, {"10.0.0.0/8", "10.0.0.0/8"}, {"192.0.2.1/32,2001:db8::1/128", "192.0.2.1/32,2001:db8::1/128"},
				{" 10.1.2.3/8 , fd00::/8,", "10.0.0.0/8,fd00::/8"},
			},
			[]string{"17", "-1", "1,10.0.0.0/8", "10.0.0.1", "10.0.0.0/33", "all", "10.0.0.0/8;fd00::/8", "::ffff:10.0.0.0/104"},
		},
		{
			new(TrustedOrigins),
			[][2]string{{" https://a.example , http://b.example:8080,", "https://a.example,http://b.example:8080"}},
			[]string{"Null", "null/", "a.example", "https://a.example/path", "https://", "://"},
		},
		{
			new(PathPrefix),
			[][2]string{{"/waybook/", "/waybook"}, {"", ""}, {"/waybook", "/waybook"}, {"/", ""}, {"/a/b.c~d", "/a/b.c~d"}},
			[]string{"waybook", "//", "//evil.example", "/a//b", "/a?b", "/a#b", "/a%20b", "/a b", "https://a.example"},
		},
	} {
		for _, value := range c.taken {
			if err := c.setting.Set(value[0]); err != nil || c.setting.String() != value[1] {
				t.Errorf("%T: %q became %v (%v), want %s", c.setting, value[0], c.setting, err, value[1])
			}
		}
		kept := c.setting.String()
		for _, wrong := range c.refused {
			if err := c.setting.Set(wrong); err == nil || c.setting.String() != kept {
				t.Errorf("%T: %q: got %v and %v", c.setting, wrong, err, c.setting)
			}
		}
	}
}
