package move

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/waybook/waybook/waybookctl/movefile"
)

// people finds the name and the icon of users, in a file. It keeps 16 bytes of memory for a user, and
// is safe for concurrent use.
type people struct {
	file *os.File
	ids  []int64
	at   []int64
}

// person is how a user is shown.
type person struct{ Name, Icon string }

// newPeople writes the users of an intake to a file in its folder.
func newPeople(in *intake) (_ *people, err error) {
	file, err := os.OpenFile(filepath.Join(in.input.Folder, "people"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	p := &people{file: file}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	type user struct{ id, at int64 }
	var users []user
	var end int64
	out := bufio.NewWriterSize(file, bucketBuffer)
	for n := range userBuckets {
		items, err := in.roots.read(n)
		if err != nil {
			return nil, err
		}
		for _, f := range in.families(items) {
			record, isUser := f.record.(*movefile.User)
			if !isUser {
				continue
			}
			text, err := json.Marshal(person{record.Name, record.IconURL})
			if err != nil {
				return nil, err
			}
			line := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...) // #nosec G115 -- a line is bounded
			if _, err := out.Write(line); err != nil {
				return nil, err
			}
			users = append(users, user{number(record.ID), end})
			end += int64(len(line))
		}
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	slices.SortFunc(users, func(a, b user) int { return int(max(-1, min(1, a.id-b.id))) })
	for _, each := range users {
		p.ids, p.at = append(p.ids, each.id), append(p.at, each.at)
	}
	return p, nil
}

// find returns a user. One who is not in the files has no name and no icon.
func (p *people) find(id movefile.ID) (person, error) {
	n, isThere := slices.BinarySearch(p.ids, number(id))
	if !isThere {
		return person{}, nil
	}
	var length [4]byte
	if _, err := p.file.ReadAt(length[:], p.at[n]); err != nil {
		return person{}, err
	}
	text := make([]byte, binary.LittleEndian.Uint32(length[:]))
	if _, err := p.file.ReadAt(text, p.at[n]+4); err != nil {
		return person{}, err
	}
	var found person
	if err := json.Unmarshal(text, &found); err != nil {
		return found, fmt.Errorf("a temporary file was changed: %w", err)
	}
	return found, nil
}

func (p *people) close() error { return p.file.Close() }
