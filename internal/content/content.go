// Package content is what albums, entries and landmarks have in common. A service opens
// its kind of content once, with what differs, and gets documents that belong to users,
// with comments, recommendations and whatever else hangs on them. The packages below this
// one keep one part each.
package content
