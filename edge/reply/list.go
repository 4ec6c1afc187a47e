package reply

// Reply is one reply being written: its document, and where it goes while it grows. One
// goroutine uses it.
type Reply struct {
	Writer
	Sink Sink
}

// Sink sends a document that is still being written.
type Sink interface {
	// ItemDone may send what has gathered. It is called between two items of a list. An
	// error ends the reply.
	ItemDone() error
	// BatchDone sends what has gathered if the reply goes out in pieces already.
	BatchDone() error
	// Wait says that the reply waits for more until Resume. What has gathered may be
	// sent meanwhile, by another goroutine.
	Wait()
	// Resume says that more has come.
	Resume()
}

// List is how a list of a reply is written.
type List[Item any] struct {
	// Name is that of the list, Item that of its items before their position.
	Name, Item string
	WriteItem  func(Writer, Item)
}

// Write writes the items that follow position, and returns the new position.
func (l List[Item]) Write(out *Reply, items []Item, position int) (int, error) {
	for _, item := range items {
		position++
		out.BeginItem(l.Item, position)
		l.WriteItem(out.Writer, item)
		out.EndItem(l.Item, position)
		if err := out.Sink.ItemDone(); err != nil {
			return position, err
		}
	}
	return position, out.Sink.BatchDone()
}

// WritePages writes an optional list that starts with the given items and continues with
// the pages that next returns, as long as there is a page token.
func (l List[Item]) WritePages(
	out *Reply, items []Item, token string, next func(token string) (items []Item, nextToken string, err error),
) error {
	if len(items) == 0 && token == "" {
		return nil
	}
	out.BeginList(l.Name)
	position, err := l.Write(out, items, 0)
	for err == nil && token != "" {
		out.Sink.Wait()
		items, token, err = next(token)
		out.Sink.Resume()
		if err == nil {
			position, err = l.Write(out, items, position)
		}
	}
	out.EndList(l.Name)
	return err
}
