// Mysql stands in for MySQL's client in the test of the guide: it reads statements from standard input,
// runs them on the SQLite database in the file that OLD_DATABASE names, and prints the rows as
// --batch --raw --skip-column-names does. Its arguments are ignored.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ERROR:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	script, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	database, err := sql.Open("sqlite", os.Getenv("OLD_DATABASE"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	// SQLite has the function by another name.
	for statement := range strings.SplitSeq(strings.ReplaceAll(string(script), "json_arrayagg", "json_group_array"), ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if err := print(database, statement); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(statement), err)
		}
	}
	return nil
}

// print runs a statement and prints the first column of its rows.
func print(database *sql.DB, statement string) (err error) {
	rows, err := database.Query(statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		fmt.Println(text)
	}
	return rows.Err()
}
