package piwigo

import (
	"strings"
	"testing"
)

func TestAMissingModuleIsReportedWithItsPackage(t *testing.T) {
	const all = "[PHP Modules]\nCore\ngd\nmbstring\nmysqli\nmysqlnd\nxml\n\n[Zend Modules]\nZend OPcache\n"
	if err := checkModules(all); err != nil {
		t.Error(err)
	}
	err := checkModules(strings.Replace(all, "\nmysqli\n", "\n", 1))
	if err == nil || !strings.Contains(err.Error(), "php-mysql") || strings.Contains(err.Error(), "php-gd") {
		t.Errorf("without mysqli: got %v", err)
	}
}
