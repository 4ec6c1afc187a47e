package programs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

func TestClientsInOtherLanguagesGetTheirTextsBackByteForByte(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	p := launch.Start(t, binary, t.TempDir())
	for _, client := range []struct{ language, interpreter, script string }{
		{"Python", "python3", "client.py"},
		{"Java", "java", "Client.java"},
		{"PHP", "php", "client.php"},
	} {
		t.Run(client.language, func(t *testing.T) {
			if _, err := exec.LookPath(client.interpreter); err != nil {
				t.Skipf("SKIPPED: %s is not installed, so the %s client was not run", client.interpreter, client.language)
			}
			command := exec.CommandContext(t.Context(), client.interpreter,
				filepath.Join("testdata", client.script), "http://"+p.HTTP+"/API.php", demoCookie(t, p.Data))
			// Without these variables, some systems do not read sources as UTF-8.
			command.Env = append(os.Environ(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1", "JDK_JAVA_OPTIONS=-Dfile.encoding=UTF-8")
			output, err := command.CombinedOutput()
			if err != nil || !strings.Contains(string(output), "all the same") {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}
