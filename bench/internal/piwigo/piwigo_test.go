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

func TestTablesOfContentAreDurable(t *testing.T) {
	const tables = "CREATE TABLE `piwigo_images` () ENGINE=MyISAM;\nCREATE TABLE `piwigo_sessions` () ENGINE=MyISAM;\n"
	const want = "CREATE TABLE `piwigo_images` () ENGINE=InnoDB;\nCREATE TABLE `piwigo_sessions` () ENGINE=MyISAM;\n"
	if got := durable(tables); got != want {
		t.Errorf("got\n%s", got)
	}
}
