package console

import "flag"

// Flags are the settings of the console.
type Flags struct {
	// IsOn makes the program serve the console.
	IsOn bool
	// Tiles is the address of the map's raster tiles.
	Tiles Tiles
}

// Register declares the flags. isOn says whether the console is on by default.
func (f *Flags) Register(flags *flag.FlagSet, isOn bool) {
	flags.BoolVar(&f.IsOn, "console", isOn, "serve the console, a page for people, at / of the edge; it shows the version and numbers of requests to whoever can connect")
	flags.Var(&f.Tiles, "console-tiles", "`address` of raster tiles for the map of the console, such as https://tiles.example/{z}/{x}/{y}.png; browsers fetch them from there")
}
