// Package image builds the container images of Waybook's programs without a container engine. The
// images are the same, byte for byte, on every machine.
package image

// Program is a program that has an image.
type Program struct {
	// Name is the name of the program; "waybook/" and it are the name of the image.
	Name string
	// Package is the path of its main package, relative to the workspace.
	Package string
	// Summary is the description in the image's label.
	Summary string
}

// Programs returns all programs that have an image.
func Programs() []Program {
	return []Program{
		{"edge", "./edge/cmd/edge", "The XML edge of Waybook"},
		{"account", "./services/account/cmd/account", "The account service of Waybook"},
		{"album", "./services/album/cmd/album", "The album service of Waybook"},
		{"blog", "./services/blog/cmd/blog", "The blog service of Waybook"},
		{"poi", "./services/poi/cmd/poi", "The landmark service of Waybook"},
		{"standalone", "./standalone", "All of Waybook in one process"},
		{"waybookctl", "./waybookctl", "The command line for operators of Waybook"},
	}
}

// Repository returns the image's name without a tag.
func (p Program) Repository() string { return "waybook/" + p.Name }
