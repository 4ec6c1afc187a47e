package backupplace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
)

// encryptedStart is the start of every file that age writes.
const encryptedStart = "age-encryption.org/"

// Keys encrypt and decrypt backups. Without a recipient nothing is encrypted.
type Keys struct {
	recipients []age.Recipient
	identities []age.Identity
}

// ReadKeys returns the keys of recipients, which are public, such as age1…, and those of a file that
// age-keygen wrote. The file may be empty: then nothing can be decrypted.
func ReadKeys(recipients []string, identities string) (keys Keys, err error) {
	for _, each := range recipients {
		parsed, err := age.ParseRecipients(strings.NewReader(each))
		if err != nil {
			return keys, fmt.Errorf("the recipient %q is no public key of age: %w", each, err)
		}
		keys.recipients = append(keys.recipients, parsed...)
	}
	if identities == "" {
		return keys, nil
	}
	file, err := os.Open(identities)
	if err != nil {
		return keys, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if keys.identities, err = age.ParseIdentities(file); err != nil {
		return keys, fmt.Errorf("%s has no keys of age: %w", identities, err)
	}
	return keys, nil
}

// Encrypts reports whether there is a recipient.
func (k Keys) Encrypts() bool { return len(k.recipients) > 0 }

// Decrypts reports whether there is a private key.
func (k Keys) Decrypts() bool { return len(k.identities) > 0 }

// Encrypt lets write write, and writes it encrypted to a writer.
func (k Keys) Encrypt(to io.Writer, write func(io.Writer) error) error {
	if !k.Encrypts() {
		return write(to)
	}
	encrypted, err := age.Encrypt(to, k.recipients...)
	if err != nil {
		return fmt.Errorf("encrypt the backup: %w", err)
	}
	if err := write(encrypted); err != nil {
		return err // without the last block nothing can be decrypted
	}
	return encrypted.Close()
}

// Decrypt returns what a reader has, decrypted if age encrypted it. Reading fails where the contents
// were changed or cut off.
func (k Keys) Decrypt(from io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(from)
	start, err := buffered.Peek(len(encryptedStart))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(start) != encryptedStart {
		return buffered, nil
	}
	if !k.Decrypts() {
		return nil, errors.New("the backup is encrypted; name the file with its private key in --identity")
	}
	decrypted, err := age.Decrypt(buffered, k.identities...)
	if err != nil {
		return nil, fmt.Errorf("decrypt the backup: %w", err)
	}
	return decrypted, nil
}
