package oldserver

import (
	"fmt"
	"strings"
	"time"
)

// element is an element of a reply.
type element struct {
	name, text, attributes string
	children               []element
	isData                 bool
}

func leaf(name, text string) element { return element{name: name, text: text} }

func whole(name string, value int64) element { return leaf(name, fmt.Sprintf("%d.0", value)) }

func success(children ...element) element {
	return element{name: "response", attributes: ` version="1.2"`, children: append(children, leaf("status", "SUCCESS"))}
}

func failure(info string) element {
	return element{name: "response", children: []element{leaf("info", info), leaf("status", "FAILED")}}
}

func listOf[T any](name, item string, items []T, fields func(T) []element) element {
	list := element{name: name, attributes: fmt.Sprintf(" count='%d'", len(items))}
	for i, each := range items {
		list.children = append(list.children, element{name: fmt.Sprintf("%s%d", item, i+1), children: fields(each)})
	}
	return list
}

// page writes a reply: indented, with line breaks of Windows, and with characters as entities.
type page struct{ text strings.Builder }

func (p *page) element(e element, indent string) {
	p.text.WriteString(indent + "<" + e.name + e.attributes)
	switch {
	case len(e.children) > 0:
		p.text.WriteString(">\r\n")
		for _, child := range e.children {
			p.element(child, indent+"\t")
		}
		p.text.WriteString(indent + "</" + e.name + ">\r\n")
	case e.text == "":
		p.text.WriteString("/>\r\n")
	default:
		p.text.WriteString(">")
		if e.isData && !strings.Contains(e.text, "]]>") {
			p.text.WriteString("<![CDATA[" + e.text + "\n]]>")
		} else {
			for _, c := range e.text {
				if c == '&' || c == '<' || c == '>' || c == '\'' || c == '"' || c > 0x7E {
					fmt.Fprintf(&p.text, "&#x%X;", c)
				} else {
					p.text.WriteRune(c)
				}
			}
		}
		p.text.WriteString("</" + e.name + ">\r\n")
	}
}

func location(lat, lng float64) element {
	return element{name: "Location", children: []element{leaf("lng", fmt.Sprintf("%.8f", lng)), leaf("lat", fmt.Sprintf("%.8f", lat))}}
}

func day(at time.Time) element {
	year, month, day := at.In(taipei).Date()
	return dateOf("updateDate", year, int(month), day)
}

func dateOf(name string, year, month, day int) element {
	return element{name: name, children: []element{
		leaf("year", fmt.Sprint(year)), leaf("month", fmt.Sprint(month)), leaf("day", fmt.Sprint(day)),
	}}
}

// moment writes a time without seconds.
func moment(at time.Time) element {
	return leaf("time", at.In(taipei).Format("2006/1/2 15:04"))
}

// image makes the address of an image absolute.
func image(name, address string) element {
	if address != "" && !strings.Contains(address, "://") {
		address = "http://img.old.example/" + address
	}
	return leaf(name, address)
}

// comments lists the latest comment first.
func comments(all []Comment) element {
	latest := make([]Comment, len(all))
	for i, each := range all {
		latest[len(all)-1-i] = each
	}
	return listOf("comments", "comment", latest, func(c Comment) []element {
		fields := []element{
			leaf("commenterName", c.By.Name), image("commenterIcon", c.By.Icon), moment(c.At),
			{name: "comment", text: c.Text, isData: true},
		}
		if c.Reply != "" {
			return append(fields, element{name: "authorReply", children: []element{leaf("reply", c.Reply), moment(c.RepliedAt)}})
		}
		return append(fields, element{name: "authorReply"})
	})
}

func (s *Server) album(a *Place) []element {
	return []element{
		leaf("albumTitle", a.Title), leaf("ownerName", a.Owner.Name), image("ownerIcon", a.Owner.Icon), whole("category", a.Category),
		location(a.Lat, a.Lng), whole("score", a.Score), day(a.Updated),
		listOf("photos", "photo", a.Photos, func(p Photo) []element {
			return []element{leaf("photoID", s.own(PhotoID, p.ID)), leaf("description", p.Description), image("thumbnail", p.Address)}
		}),
		comments(a.Comments),
	}
}

func (s *Server) landmark(l *Place) []element {
	return []element{
		leaf("name", l.Title), whole("category", l.Category), location(l.Lat, l.Lng), leaf("ownerName", l.Owner.Name),
		image("ownerIcon", l.Owner.Icon), day(l.Updated), whole("score", l.Score),
		listOf("photos", "photo", l.Photos, func(p Photo) []element {
			return []element{image("photoPath", p.Address), leaf("description", p.Description)}
		}),
		comments(l.Comments),
	}
}

func (s *Server) entry(e *Entry) []element {
	fields := []element{
		leaf("blogTitle", e.Title), {name: "blogContent", text: e.Text, isData: true}, leaf("authorName", e.Author.Name),
		image("authorIcon", e.Author.Icon), leaf("type", e.Type), location(e.Lat, e.Lng), dateOf("postDate", e.Year, e.Month, e.Day),
		leaf("weather", e.Weather), whole("score", e.Score), leaf("replyBlogID", s.own(EntryID, e.Quoted)), comments(e.Comments),
	}
	if e.Zoom != 14 {
		fields = append(fields, whole("zoomLevel", e.Zoom))
	}
	if e.Map != 1 {
		fields = append(fields, whole("mapType", e.Map))
	}
	if len(e.Choices) == 0 {
		return append(fields, element{name: "vote"})
	}
	return append(fields, element{name: "vote", children: []element{
		listOf("choices", "choice", e.Choices, func(c Choice) []element {
			return []element{whole("votes", c.Votes), leaf("description", c.Text)}
		}),
		leaf("description", e.Question),
	}})
}
