// Package image builds the container images of Waybook's programs, without a container
// engine and the same to the byte wherever it runs.
package image

// Program is a program that has an image.
type Program struct {
	// Name is the program's name and, after "waybook/", that of its image.
	Name string
	// Package is where its main function is, from the workspace's root.
	Package string
	// Summary is what the image's label says of it.
	Summary string
}

// Programs are all programs that have an image.
func Programs() []Program {
	return []Program{
		{"edge", "./edge/cmd/edge", "The XML edge of Waybook"},
		{"account", "./services/account/cmd/account", "The account service of Waybook"},
		{"album", "./services/album/cmd/album", "The album service of Waybook"},
		{"blog", "./services/blog/cmd/blog", "The blog service of Waybook"},
		{"poi", "./services/poi/cmd/poi", "The landmark service of Waybook"},
		{"standalone", "./standalone", "All of Waybook in one process"},
		{"waybookctl", "./waybookctl", "The command line for people who operate Waybook"},
	}
}

// Repository is the image's name without a tag.
func (p Program) Repository() string { return "waybook/" + p.Name }
