package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// run reads statements, runs them on the database in a file, and prints the first column of the rows.
func run(path string, statements io.Reader, out io.Writer) (err error) {
	script, err := io.ReadAll(statements)
	if err != nil {
		return err
	}
	database, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	database.SetMaxOpenConns(1) // a transaction belongs to a connection
	// SQLite has functions by other names, and no modes. Its texts of JSON have no quotes.
	dialect := strings.NewReplacer("json_arrayagg", "json_group_array", "json_unquote(", "(", "; drop", ";\ndrop")
	for statement := range strings.SplitSeq(dialect.Replace(string(script)), ";\n") {
		if strings.TrimSpace(statement) == "" || strings.HasPrefix(statement, "set sql_mode") {
			continue
		}
		if err := rowsOf(database, statement, out); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(statement), err)
		}
	}
	return nil
}

func rowsOf(database *sql.DB, statement string, out io.Writer) (err error) {
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
		if _, err := fmt.Fprintln(out, text); err != nil {
			return err
		}
	}
	return rows.Err()
}
