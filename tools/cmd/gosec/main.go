// Command gosec looks for mistakes that cost security: gosec -test=false ./... in a module.
// It is gosec as a go/analysis checker; its own command would add the libraries of several
// services that it can ask to mend what it found.
package main

import (
	"github.com/securego/gosec/v2/goanalysis"
	"golang.org/x/tools/go/analysis/singlechecker"
)

func main() { singlechecker.Main(goanalysis.Analyzer) }
